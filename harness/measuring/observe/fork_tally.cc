#include "observe/fork_tally.h"

#include <sched.h>

#include <algorithm>

namespace zerotax {

ForkWay fork_way(std::uint64_t clone_flags) {
  if ((clone_flags & CLONE_VM) == 0) return ForkWay::kFork;
  return (clone_flags & CLONE_VFORK) != 0 ? ForkWay::kVfork : ForkWay::kCloneVm;
}

void ForkTally::apply(const FaultEvent& event) {
  using enum FaultEvent::Kind;
  if (event.kind == kForkBegin) {
    open_[event.tid] = {event.time_ns, 0, 0};
  } else if (event.kind == kForkEnd) {
    end(event);
  } else if (event.kind == kTable || event.kind == kAllocation) {
    const auto open = open_.find(event.tid);
    if (open == open_.end()) return;
    if (event.kind == kTable) ++open->second.page_tables;
    if (event.kind == kAllocation && event.of_program && !event.zeroed) {
      open->second.copied_pages += std::uint64_t{1} << event.order;
    }
  }
}

void ForkTally::end(const FaultEvent& event) {
  const auto open = open_.find(event.tid);
  if (open == open_.end()) return;
  const Open call = open->second;
  open_.erase(open);
  if ((event.clone_flags & CLONE_THREAD) != 0) return;
  ForkSums& sums = sums_.at(static_cast<std::size_t>(fork_way(event.clone_flags)));
  const std::uint64_t ns = event.time_ns - std::min(event.time_ns, call.began_ns);
  ++sums.processes;
  sums.kernel_ns += ns;
  sums.longest_ns = std::max(sums.longest_ns, ns);
  sums.page_tables += call.page_tables;
  sums.copied_pages += call.copied_pages;
}

}  // namespace zerotax
