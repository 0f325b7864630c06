target_compile_definitions(upstream_tests PRIVATE ZEROTAX_BINARY_DIR="${CMAKE_BINARY_DIR}")
if(NOT ZEROTAX_SANITIZE)
  add_dependencies(upstream_tests bench-glibc planted_memset planted_crash planted_never)
endif()
