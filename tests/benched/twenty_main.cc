// Runs one of the twenty programs: PROGRAM is the name of its function.
#include <benchmark/benchmark.h>

void PROGRAM(benchmark::State& state);
BENCHMARK(PROGRAM)->Arg(1)->Arg(4)->Arg(16);
BENCHMARK_MAIN();
