# The program that benchmark-policies measures. The program links no library, because allocators are preloaded into it.
add_executable(benchmark-policies-loop ${folder}/loop.c)
set_target_properties(benchmark-policies-loop PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/benchmarks/policies OUTPUT_NAME loop)
target_compile_options(benchmark-policies-loop PRIVATE -fno-builtin-malloc -fno-builtin-calloc)
target_link_libraries(benchmark-policies-loop PRIVATE Threads::Threads)
add_dependencies(benchmark-policies benchmark-policies-loop)
# largecache_core gives the benchmark the library's own list of policies.
target_link_libraries(benchmark-policies PRIVATE largecache_core)
