// Usage: rate THREADS PER_SECOND SECONDS. All threads together record PER_SECOND numbers per second at a steady rate.
// Prints how many numbers were recorded, how many were lost, and the duration in seconds.
#include <zerotax/recorder.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "stopwatch.h"

ZEROTAX_EVENT(number, (uint64_t, who), (uint64_t, value))

namespace {

/// Records a few numbers at a time, at their planned time. A thread that was delayed catches up.
void record_steadily(std::uint64_t who, double per_ns, std::uint64_t count) {
  constexpr std::uint64_t kStep = 500;
  const std::int64_t begin = stopwatch_ns();
  for (std::uint64_t done = 0; done < count;) {
    for (std::uint64_t end = done + kStep; done < end && done < count; ++done) {
      zerotax::record(number{.who = who, .value = done});
    }
    while (static_cast<double>(stopwatch_ns() - begin) * per_ns < static_cast<double>(done)) {
      std::this_thread::yield();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::uint64_t threads = std::strtoull(argv[1], nullptr, 10);
  const double per_second = std::atof(argv[2]) / static_cast<double>(threads);
  const auto count = static_cast<std::uint64_t>(per_second * std::atof(argv[3]));
  const std::int64_t begin = stopwatch_ns();
  std::vector<std::thread> all;
  for (std::uint64_t who = 0; who < threads; ++who) all.emplace_back(record_steadily, who, per_second * 1e-9, count);
  for (auto& thread : all) thread.join();
  const double seconds = static_cast<double>(stopwatch_ns() - begin) * 1e-9;
  zerotax_trace_stop();
  std::printf("%llu %llu %.3f\n", static_cast<unsigned long long>(count) * threads,
              static_cast<unsigned long long>(zerotax_trace_lost()), seconds);
  return 0;
}
