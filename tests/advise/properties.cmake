target_compile_definitions(advise_tests PRIVATE ZEROTAX_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
