# crossover_test counts over many simulated comparisons, which takes minutes under a sanitizer.
set_tests_properties(unit.crossover_test PROPERTIES TIMEOUT 1200)
