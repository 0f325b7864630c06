# crossover_test counts over many simulated comparisons: under a sanitizer that takes minutes.
set_tests_properties(unit.crossover_test PROPERTIES TIMEOUT 1200)
