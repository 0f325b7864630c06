// Usage: records bare|ours COUNT. Prints the nanoseconds that one record of 16 bytes takes, as the median of many short
// stretches. `bare` is the lower bound for any recorder: reading the processor's counter and storing 16 bytes.
#include <zerotax/recorder.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "stopwatch.h"

ZEROTAX_EVENT(sixteen, (uint64_t, first), (uint64_t, second))

namespace {

constexpr std::uint64_t kStretch = 20'000;
constexpr std::size_t kBuffer = 4 << 20;  // as large as the buffer of a recorder's thread

void bare(std::uint64_t from, char* buffer, std::size_t& at) {
  for (std::uint64_t i = from; i < from + kStretch; ++i) {
    const std::uint64_t record[2] = {::zerotax_ticks_(), i};
    std::memcpy(buffer + at, record, sizeof record);
    at = (at + sizeof record) % kBuffer;
    asm volatile("" ::: "memory");
  }
}

void ours(std::uint64_t from) {
  for (std::uint64_t i = from; i < from + kStretch; ++i) zerotax::record(sixteen{.first = i, .second = ~i});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool is_bare = std::strcmp(argv[1], "bare") == 0;
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  std::vector<char> buffer(kBuffer, 1);
  std::size_t at = 0;
  std::vector<double> ns;
  for (std::uint64_t i = 0; i < count || ns.size() < 3; i += kStretch) {
    const std::int64_t before = stopwatch_ns();
    if (is_bare) {
      bare(i, buffer.data(), at);
    } else {
      ours(i);
    }
    ns.push_back(static_cast<double>(stopwatch_ns() - before) / static_cast<double>(kStretch));
  }
  // The first stretches warm up the buffer and register the type.
  ns.erase(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 4));
  std::nth_element(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2), ns.end());
  std::printf("%.3f %llu\n", ns[ns.size() / 2], static_cast<unsigned long long>(zerotax_trace_lost()));
  return 0;
}
