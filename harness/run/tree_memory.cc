#include "run/tree_memory.h"

#include <unistd.h>

#include <algorithm>

#include "os/process_info.h"

namespace zerotax {
namespace {

/// PSS takes 10 ms for each GiB: at most one part in so many of the time goes into samples.
constexpr int kShare = 10;

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
  const auto began = Clock::now();
  if (began < next_) return true;
  const std::vector<pid_t> found = processes(meter);
  // Each page counts in full in this sum: no other sum is larger.
  const std::uint64_t most = sum_of(found, false);
  const bool may_exceed = limit_ != 0 && most > limit_;
  const auto looked = Clock::now();
  next_ = looked + kShare * (looked - began);
  if (found.size() < 2) return !may_exceed;
  if (most <= peak_of_several_ || (looked < next_walk_ && !may_exceed)) return true;
  const std::uint64_t sum = sum_of(found, true);
  peak_of_several_ = std::max(peak_of_several_, sum);
  const auto walked = Clock::now();
  next_walk_ = walked + kShare * (walked - looked);
  return limit_ == 0 || sum <= limit_;
}

}  // namespace zerotax
