target_compile_definitions(report_tests PRIVATE ZEROTAX_BINARY_DIR="${CMAKE_BINARY_DIR}")
if(NOT ZEROTAX_SANITIZE)
  add_dependencies(report_tests bench-glibc planted_memset planted_crash planted_never)
endif()
