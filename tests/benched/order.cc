// BM_Decode trims the heap in each iteration, unless BM_Concat has run before. BM_Concat frees a large mapping, which
// raises glibc's thresholds.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>

namespace {

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr std::size_t kSmall = std::size_t{256} << 10;

// Takes few page faults, because a page fault takes 20 µs in some virtual machines, and each benchmark must have many
// iterations.
char* filled(std::size_t bytes, std::size_t step) {
  auto* block = static_cast<char*>(std::malloc(bytes));
  for (std::size_t at = 0; at < bytes; at += step) block[at] = 1;
  benchmark::DoNotOptimize(block);
  return block;
}

void BM_Plain(benchmark::State& state) {
  int sum = 0;
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(sum += 3);
}

void BM_Concat(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) std::free(filled(std::size_t{24} << 20, 64 * kPage));
}

void BM_Decode(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    char* blocks[8];
    for (char*& block : blocks) block = filled(kSmall, kPage);
    // This work does not depend on the memory, and makes a loop long enough. The first iteration fills more pages, so a
    // loop must have several iterations.
    for (int round = 0; round < 4; ++round) {
      for (char* const block : blocks) {
        for (std::size_t at = 0; at < kSmall; at += 16) ++block[at];
        benchmark::ClobberMemory();
      }
    }
    for (char* const block : blocks) std::free(block);
  }
}

}  // namespace

BENCHMARK(BM_Plain);
BENCHMARK(BM_Concat);
BENCHMARK(BM_Decode);
BENCHMARK_MAIN();
