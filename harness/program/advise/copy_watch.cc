#include "advise/copy_watch.h"

#include <fmt/format.h>

#include <set>

#include "base/units.h"
#include "os/page.h"

namespace zerotax::advise {
namespace {

/// At the end of an interval, the tracer reads PSS. The reader delays the end of a process's memory, so that its parent
/// copies more pages. The interval is therefore longer than any run.
constexpr double kInterval_s = 1e6;

FaultTracerOptions tracing() {
  FaultTracerOptions options;
  options.interval_s = kInterval_s;
  return options;
}

/// Returns the process and its descendants.
std::set<pid_t> family(const FaultData& data, pid_t program) {
  std::set<pid_t> found{program};
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const TracedProcess& each : data.processes) {
      if (found.contains(each.parent)) found.insert(each.pid);
    }
  }
  return found;
}

std::uint64_t copied_after_forks(const FaultCounts& counts) { return counts.copied_bytes - counts.file_copied_bytes; }

Measured<std::uint64_t> at_most(const FaultData& data) {
  if (!data.bounds) return NotAvailable{"every copy is counted"};
  const auto pages = data.bounds->copies.at_most;
  if (!pages) return NotAvailable{"a process was not watched to its end"};
  return *pages * page_bytes();
}

}  // namespace

Copies copies_of(const FaultData& data, pid_t program) {
  Copies copies;
  std::uint64_t copied = 0;
  std::uint64_t zero_filled = 0;
  const std::set<pid_t> processes = family(data, program);
  for (const TracedProcess& each : data.processes) {
    if (!processes.contains(each.pid)) continue;
    std::uint64_t own = copied_after_forks(each.counts);
    std::uint64_t zeroed = each.counts.zeroed_bytes;
    const FaultCounts before = each.before_exec.value_or(FaultCounts{});
    if (each.pid == program) {
      // Before it executed the program, this process was a part of zerotax.
      own -= copied_after_forks(before);
      zeroed -= before.zeroed_bytes;
      copies.by_first_bytes += own;
    } else {
      ++copies.forks;
      copies.execs += each.before_exec ? 1 : 0;
      copies.before_exec_bytes += copied_after_forks(before);
    }
    copied += own;
    zero_filled += zeroed;
  }
  copies.copied_bytes =
      known_if(data.lost == 0, copied, fmt::format("the kernel lost {}", format_counted(data.lost, "event")));
  copies.zero_filled_bytes = known_if(data.every_fault && data.lost == 0, zero_filled, "visible to root only");
  copies.seen = data.every_fault ? CopiesSeen::kAll : CopiesSeen::kUserMode;
  copies.at_most_bytes = at_most(data);
  return copies;
}

CopyWatch::CopyWatch() : tracer_(tracing()) {}

Copies CopyWatch::finish(pid_t program) { return copies_of(tracer_.finish(), program); }

}  // namespace zerotax::advise
