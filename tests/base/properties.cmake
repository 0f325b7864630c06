target_compile_definitions(base_tests PRIVATE ZEROTAX_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
# paired_times_test counts over many simulated comparisons: under a sanitizer that takes minutes.
set_tests_properties(unit.paired_times_test PROPERTIES TIMEOUT 1200)
