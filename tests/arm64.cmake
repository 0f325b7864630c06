# Tests of the built command that ./run arm64 --test runs besides the unit tests. These are the shorter tests that
# assert counts, because an emulated machine takes ten to fifty times as long.
set(arm64_tests
  integration.contract_test
  integration.doctor_test
  integration.largecache_signals_test
  integration.largecache_system_calls_test
  integration.misbehaviour_test
  integration.planted_free_test
  integration.planted_kernel_test
  integration.planted_promises_test
  integration.planted_signals_test
  integration.probe_test
  integration.read_loop_test
  integration.record_clears_test
  integration.record_known_test
)
zerotax_label(arm64 ${arm64_tests})
