# The programs of benchmark-programs that Debian does not package. Linked against no allocator: they are preloaded.
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
# The policies are those that the library has.
target_link_libraries(benchmark-programs PRIVATE largecache_core)
