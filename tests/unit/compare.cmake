zerotax_unit_test(signed_rank_test LIBRARIES zerotax_base)
zerotax_unit_test(compare_times_test LIBRARIES zerotax_analyze)
# False alarms are counted over many simulated comparisons: under a sanitizer that takes minutes.
set_tests_properties(unit.compare_times_test PROPERTIES TIMEOUT 1200)
zerotax_unit_test(compare_verdict_test LIBRARIES zerotax_analyze)
zerotax_unit_test(run_file_test LIBRARIES zerotax_drive)
