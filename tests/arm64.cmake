# Tests of the built command that ./run arm64 --test runs beside the unit tests: those that assert counts, and no more of
# time than that something ends.
set(arm64_tests
  integration.cow_faults_test
  integration.cow_truths_test
  integration.fills_test
  integration.findings_test
  integration.hostile_test
  integration.largecache_signals_test
  integration.largecache_system_calls_test
  integration.planted_free_test
  integration.planted_promises_test
  integration.planted_test
  integration.probe_test
  integration.process_test
  integration.read_loop_test
  integration.real_allocators_test
  integration.record_known_test
  integration.record_truths_test
  integration.refill_loop_test
  integration.request_test
  integration.trace_reader_test
)
foreach(test IN LISTS arm64_tests)
  if(TEST ${test})
    set_property(TEST ${test} APPEND PROPERTY LABELS arm64)
  endif()
endforeach()
