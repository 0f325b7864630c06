// Benchmarks whose names have several words, in a program with other output, and with counters that are not numbers.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <ctime>
#include <limits>

namespace {

void plain(benchmark::State& state) {
  int sum = 0;
  for (auto _ : state) benchmark::DoNotOptimize(sum += 1);  // NOLINT(clang-analyzer-deadcode.DeadStores)
  state.counters["nothing"] = benchmark::Counter(0, benchmark::Counter::kAvgIterations | benchmark::Counter::kInvert);
  state.counters["no number"] = std::numeric_limits<double>::quiet_NaN();
}

template <typename T, int N>
void pair(benchmark::State& state) {
  T sum = N;
  for (auto _ : state) benchmark::DoNotOptimize(sum += 1);  // NOLINT(clang-analyzer-deadcode.DeadStores)
}

BENCHMARK(plain);
BENCHMARK_TEMPLATE(pair, int, 3);
BENCHMARK(plain)->Name("read \"a file\", twice");
BENCHMARK(plain)->Name("read");
BENCHMARK(plain)->Name("read char[3]{}");

}  // namespace

int main(int count, char** words) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::printf("This is no benchmark.\nplain text\nIt is %ld.%09ld now.\n", static_cast<long>(now.tv_sec), now.tv_nsec);
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
