target_compile_definitions(thresholds_tests PRIVATE ZEROTAX_BINARY_DIR="${CMAKE_BINARY_DIR}")
if(NOT ZEROTAX_SANITIZE)
  add_dependencies(thresholds_tests bench-glibc planted_threshold_prime planted_crash)
endif()
