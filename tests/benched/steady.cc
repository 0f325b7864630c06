// Benchmarks that cost the same in any order. bench may report none of them.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

void BM_Sort(benchmark::State& state) {
  std::vector<unsigned> numbers(static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) {
    unsigned seed = 1;
    for (unsigned& number : numbers) number = seed = seed * 1664525U + 1013904223U;
    std::sort(numbers.begin(), numbers.end());
    benchmark::DoNotOptimize(numbers.data());
  }
}

void BM_SmallBlocks(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::vector<std::unique_ptr<std::string>> all;
    all.reserve(100);
    for (int i = 0; i < 100; ++i) all.push_back(std::make_unique<std::string>(64, 'x'));
    benchmark::DoNotOptimize(all.data());
  }
}

void BM_Map(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::map<int, int> map;
    for (int i = 0; i < 200; ++i) map[i * 7 % 211] = i;
    benchmark::DoNotOptimize(map.size());
  }
}

void BM_Hash(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::unordered_map<int, std::string> map;
    for (int i = 0; i < 200; ++i) map[i] = "value";
    benchmark::DoNotOptimize(map.size());
  }
}

void BM_Concatenate(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::string text;
    for (int i = 0; i < 500; ++i) text += "some words ";
    benchmark::DoNotOptimize(text.data());
  }
}

void BM_KeptBuffer(benchmark::State& state) {
  std::vector<char> buffer(std::size_t{4} << 20);
  for ([[maybe_unused]] auto _ : state) {
    std::fill(buffer.begin(), buffer.end(), 'x');
    benchmark::ClobberMemory();
  }
}

}  // namespace

BENCHMARK(BM_Sort)->Arg(100)->Arg(10'000);
BENCHMARK(BM_SmallBlocks);
BENCHMARK(BM_Map);
BENCHMARK(BM_Hash);
BENCHMARK(BM_Concatenate);
BENCHMARK(BM_KeptBuffer);
BENCHMARK_MAIN();
