# paired_times_test simulates many comparisons, and so takes minutes under a sanitizer.
set_tests_properties(unit.paired_times_test PROPERTIES TIMEOUT 1200)
