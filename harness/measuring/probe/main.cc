#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "probe/benchmarks.h"
#include "probe/identify.h"
#include "probe/run_point.h"

// A probe is a Google Benchmark program for people (--benchmark_filter and the rest), and the measured process for the
// driver. In the second role nothing of Google Benchmark runs before or during the measurement.
int main(int argc, char** argv) {
  constexpr char kSamples[] = "--zerotax-samples=";
  if (argc == 2 && std::strncmp(argv[1], &kSamples[0], sizeof kSamples - 1) == 0) {
    // Without the destructors and exit handlers of the allocator: what they do is not the case.
    ::_exit(zerotax::run_point(std::atoi(argv[1] + sizeof kSamples - 1)));
  }
  constexpr char kIdentify[] = "--zerotax-identify";
  if (argc == 2 && std::strcmp(argv[1], &kIdentify[0]) == 0) return zerotax::identify(STDOUT_FILENO);
  if (argc == 2 && std::strncmp(argv[1], "--zerotax-identify=", sizeof kIdentify) == 0) {
    return zerotax::identify(std::atoi(argv[1] + sizeof kIdentify));
  }

  zerotax::register_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
