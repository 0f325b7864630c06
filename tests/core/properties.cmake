target_compile_definitions(core_tests PRIVATE ZEROTAX_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
