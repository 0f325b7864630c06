target_compile_definitions(check_tests PRIVATE ZEROTAX_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
