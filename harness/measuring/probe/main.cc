#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "meter/meter.h"
#include "meter/probe_exit.h"
#include "meter/sample_block.h"
#include "os/faults.h"
#include "probe/inherited.h"
#include "probe/run_point.h"
#include "probe/version.h"

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
  // If the kernel does not provide a count, the counter is omitted instead of set to 0.
  if (faults >= 0) {
    state.counters["faults"] =
        benchmark::Counter(static_cast<double>(thread_minor_faults() - faults), benchmark::Counter::kAvgIterations);
  }
  const std::int64_t received = meter.take_received();
  state.SetBytesProcessed(received != kNotMeasured ? received
                                                   : static_cast<std::int64_t>(state.iterations()) * state.range(0));
  if (measured.end != nullptr) measured.end();
}

/// Registers every case with Google Benchmark at the sizes and touched fractions of the study, as "<case>/<size in
/// bytes>/touch:<percent>". The counters are minor faults per operation and bytes per second.
void register_benchmarks() {
  for_each_case([](const Case& measured) {
    benchmark::RegisterBenchmark(measured.name,
                                 [&measured](benchmark::State& state) { run_benchmark(state, measured); })
        ->ArgNames({"", "touch"})
        ->ArgsProduct({{64 << 10, 1 << 20, 20 << 20, 100 << 20, 1000 << 20}, {0, 100}});
  });
}

/// The text of the answer. The whole text is composed before it is written, because an allocator may close our
/// descriptors in any call.
class Answer {
 public:
  template <typename... Values>
  void add(const char* format, Values... values) {
    const int length = std::snprintf(&text_[used_], sizeof text_ - used_, format, values...);
    used_ = std::min(sizeof text_ - 1, used_ + static_cast<std::size_t>(std::max(0, length)));
  }
  [[nodiscard]] bool write_to(int fd) const {
    for (std::size_t done = 0; done < used_;) {
      const ssize_t written = ::write(fd, &text_[done], used_ - done);
      if (written < 0) return false;
      done += static_cast<std::size_t>(written);
    }
    return true;
  }

 private:
  char text_[16 * 1024];
  std::size_t used_ = 0;
};

Answer answer;

/// Writes "key=value" lines to the file that the driver passed as `fd`, or to standard output. The lines name the
/// objects that define malloc, calloc, realloc and free in this process. They also contain the allocator's version, the
/// layout of sample blocks, and the cases. The last line is "end=1". Returns the exit status.
int identify(int fd) {
  // The first call initializes allocators that defer their initialization.
  std::free(std::calloc(1, 1));
  RunningMalloc running{nullptr, ""};
  for (const char* symbol : {"malloc", "realloc", "free", "calloc"}) {
    void* found = ::dlsym(RTLD_DEFAULT, symbol);
    Dl_info info{};
    if (found == nullptr || ::dladdr(found, &info) == 0) return 1;
    answer.add("%s=%s\n", symbol, info.dli_fname);
    running = {info.dli_fbase, info.dli_fname};
  }
  char version[64];
  const char* known_as = read_version(running, &version[0], sizeof version);
  answer.add("version=%s\nknown_as=%s\nlayout=%#" PRIx64 "\n", &version[0], known_as != nullptr ? known_as : "",
             kSampleBlockMagic);
  for_each_case([](const Case& known) {
    answer.add("case.%s=%s\nmemory.%s=%g\nforks.%s=%d\n", known.name, known.summary, known.name, known.memory,
               known.name, known.forks ? 1 : 0);
  });
  answer.add("end=%d\n", 1);
  const int to = fd == STDOUT_FILENO ? fd : inherited_file(fd, 0);
  if (to < 0) {
    probe_say("the descriptor of the answer is closed", 0);
    return kNoSampleBlock;
  }
  if (answer.write_to(to)) return 0;
  probe_say("cannot write its answer", errno);
  return kNoMachine;
}

}  // namespace

}  // namespace zerotax

// Run by a person, a probe is a Google Benchmark program (--benchmark_filter and others). Run by the driver, the probe
// is the measured process, in which no code of Google Benchmark runs before or during the measurement.
int main(int argc, char** argv) {
  constexpr char kSamples[] = "--zerotax-samples=";
  if (argc == 2 && std::strncmp(argv[1], &kSamples[0], sizeof kSamples - 1) == 0) {
    // The allocator's destructors and exit handlers are skipped, because their work is not part of the case.
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
