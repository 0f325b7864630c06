#include "probe/benchmarks.h"

#include <benchmark/benchmark.h>

#include <cstdio>

#include "meter/case.h"
#include "os/faults.h"

namespace zerotax {
namespace {

void run_benchmark(benchmark::State& state, const Case& measured) {
  BareMeter meter;
  Request request{};
  request.size_bytes = static_cast<std::uint64_t>(state.range(0));
  request.touch = static_cast<double>(state.range(1)) / 100;
  if (measured.begin != nullptr) {
    if (const char* why = measured.begin(request)) {
      state.SkipWithError(why);
      return;
    }
  }
  const std::int64_t faults = thread_minor_faults();
  for ([[maybe_unused]] auto _ : state) {
    if (!measured.operation(meter, request)) {
      state.SkipWithError(meter.failure() != nullptr ? meter.failure() : "calloc returned NULL");
      break;
    }
  }
  // A counter that the kernel does not give is left out: never 0.
  if (faults >= 0) {
    state.counters["faults"] =
        benchmark::Counter(static_cast<double>(thread_minor_faults() - faults), benchmark::Counter::kAvgIterations);
  }
  const std::int64_t received = meter.take_received();
  state.SetBytesProcessed(received != kNotMeasured ? received
                                                   : static_cast<std::int64_t>(state.iterations()) * state.range(0));
  if (measured.end != nullptr) measured.end();
}

}  // namespace

void register_benchmarks() {
  for_each_case([](const Case& measured) {
    benchmark::RegisterBenchmark(measured.name,
                                 [&measured](benchmark::State& state) { run_benchmark(state, measured); })
        ->ArgNames({"", "touch"})
        ->ArgsProduct({{64 << 10, 1 << 20, 20 << 20, 100 << 20, 1000 << 20}, {0, 100}});
  });
}

}  // namespace zerotax
