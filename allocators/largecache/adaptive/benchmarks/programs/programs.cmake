# The programs of benchmark-programs that Debian does not package. These programs link no allocator, because allocators
# are preloaded into them.
foreach(name blocks growing threads)
  file(GLOB source ${folder}/${name}.c*)
  add_executable(benchmark-programs-${name} ${source})
  set_target_properties(benchmark-programs-${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/benchmarks/programs OUTPUT_NAME ${name})
  target_compile_options(benchmark-programs-${name} PRIVATE -fno-builtin-malloc -fno-builtin-calloc)
  add_dependencies(benchmark-programs benchmark-programs-${name})
endforeach()
target_link_libraries(benchmark-programs-threads PRIVATE Threads::Threads)
add_dependencies(benchmark-programs largecache run-metered)
# largecache_core gives the benchmark the library's own list of policies.
target_link_libraries(benchmark-programs PRIVATE largecache_core)
