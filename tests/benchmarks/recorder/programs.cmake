# The programs that benchmark-recorder measures: build/benchmarks/recorder/<name>. Each is a separate process, so that
# every kind meets the same conditions.
function(recorder_benchmark_program name source)
  add_executable(benchmark-recorder-${name} ${CMAKE_CURRENT_SOURCE_DIR}/recorder/${source})
  set_target_properties(benchmark-recorder-${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/benchmarks/recorder OUTPUT_NAME ${name})
  target_link_libraries(benchmark-recorder-${name} PRIVATE ${ARGN})
  add_dependencies(benchmark-recorder benchmark-recorder-${name})
endfunction()

recorder_benchmark_program(records records.cc zerotax::recorder)
recorder_benchmark_program(rate rate.cc zerotax::recorder Threads::Threads)
recorder_benchmark_program(write_alone write_alone.c)
recorder_benchmark_program(calls calls.c)
recorder_benchmark_program(calls_instrumented calls.c)
target_compile_options(benchmark-recorder-calls_instrumented PRIVATE -finstrument-functions)
add_dependencies(benchmark-recorder zerotax_functions)
# The LTTng program is left out if its headers are missing.
pkg_check_modules(LTTNG_UST QUIET IMPORTED_TARGET lttng-ust)
if(LTTNG_UST_FOUND)
  recorder_benchmark_program(records_lttng lttng/records.c PkgConfig::LTTNG_UST ${CMAKE_DL_LIBS})
  target_include_directories(benchmark-recorder-records_lttng PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/recorder/lttng)
  # The macros of LTTng's header violate our stricter warnings.
  target_compile_options(benchmark-recorder-records_lttng PRIVATE -Wno-pedantic -Wno-conversion -Wno-shadow -Wno-extra)
endif()
