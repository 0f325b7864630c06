target_compile_definitions(base_tests PRIVATE ZEROTAX_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
