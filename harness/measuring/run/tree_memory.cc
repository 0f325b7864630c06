#include "run/tree_memory.h"

#include <unistd.h>

#include <algorithm>

#include "os/clock.h"
#include "os/process_info.h"

namespace zerotax {
namespace {

/// At most one part in kShare of the time goes into samples, and one in kWalkShare into walks of page tables (10 ms for
/// each GiB).
constexpr std::int64_t kShare = 10;
constexpr std::int64_t kWalkShare = 4;

std::uint64_t sum_of(const std::vector<pid_t>& processes, bool pss) {
  std::uint64_t sum = 0;
  for (const pid_t pid : processes) {
    const ProcessMemory memory = process_memory(pid, pss);
    sum += pss ? memory.pss.value_or(memory.rss.value_or(0)) : memory.rss.value_or(0);
  }
  return sum;
}

}  // namespace

std::vector<pid_t> TreeMemory::processes(pid_t meter) {
  std::vector<pid_t> found;
  for (const pid_t child : process_children(meter)) {
    if (first_ == 0) first_ = child;
    if (clients_ && child != first_ && ::getsid(child) == child) continue;
    for (const pid_t each : process_tree(child)) found.push_back(each);
  }
  return found;
}

bool TreeMemory::sample(pid_t meter) {
  const std::int64_t began = monotonic_ns();
  if (began < next_ns_) return true;
  // The share is of CPU time: on a busy machine a sample waits, but costs no more.
  const std::int64_t cpu = thread_cpu_ns();
  const std::vector<pid_t> found = processes(meter);
  // Each page counts in full in this sum: no other sum is larger.
  const std::uint64_t most = sum_of(found, false);
  const bool may_exceed = limit_ != 0 && most > limit_;
  next_ns_ = monotonic_ns() + kShare * (thread_cpu_ns() - cpu);
  if (found.size() < 2) return !may_exceed;
  if (most <= peak_of_several_ || (began < next_walk_ns_ && !may_exceed)) return true;
  const std::int64_t cpu_before = thread_cpu_ns();
  const std::uint64_t sum = sum_of(found, true);
  peak_of_several_ = std::max(peak_of_several_, sum);
  next_walk_ns_ = monotonic_ns() + kWalkShare * (thread_cpu_ns() - cpu_before);
  return limit_ == 0 || sum <= limit_;
}

}  // namespace zerotax
