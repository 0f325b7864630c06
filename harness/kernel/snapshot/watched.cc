#include <algorithm>

#include "os/page.h"
#include "os/processor.h"
#include "snapshot/runs.h"

namespace zerotax::snapshot {
namespace {

constexpr std::uint64_t kBinNs = 10'000'000;
constexpr std::uint64_t kMostBins = 50;

/// A timeline of equal intervals since the snapshot, few enough to be drawn.
Timeline empty_timeline(std::uint64_t length_ns) {
  const std::uint64_t bin_ns =
      kBinNs * std::max<std::uint64_t>(1, (length_ns + kBinNs * kMostBins - 1) / (kBinNs * kMostBins));
  return {bin_ns, std::vector<Counts>(length_ns / bin_ns + 1)};
}

void add(Timeline& timeline, std::uint64_t at_ns, FaultClass kind) {
  timeline.bins[std::min(at_ns / timeline.bin_ns, timeline.bins.size() - 1)].add(kind);
}

/// Faults of the parent and of the child on the destination, at any time.
Measured<Destination> destination_of(const SnapshotRun& run) {
  const RunMetrics& of = run.metrics;
  // The range is whole pages, because the allocator may write to the block's first page before the program does.
  const AddressRange range =
      AddressRange{static_cast<std::uint64_t>(of.destination_begin), static_cast<std::uint64_t>(of.destination_end)}
          .pages();
  if (range.bytes() == 0) return NotAvailable{"it is shared memory that is populated beforehand"};
  Destination destination{range.bytes() / page_bytes(), {}, {}};
  for (const SnapshotFault& fault : run.faults) {
    if (fault.address < range.begin || fault.address >= range.end) continue;
    (fault.pid == run.metrics.pid ? destination.parent : destination.child).add(fault.kind);
  }
  return destination;
}

/// Samples of one part of the run.
CpuPart part_of(const std::vector<const Stack*>& stacks, const SnapshotRun& run) {
  const auto ns = [&](std::uint64_t samples) { return samples * 1'000'000'000 / run.hz; };
  Sections sections{};
  std::uint64_t user = 0;
  for (const Stack* stack : stacks) {
    const auto work = kernel_work_of(*stack);
    ++(work ? sections[*work] : user);
  }
  CpuPart part{stacks.size(), ns(user), {}, {}};
  if (!run.sees_kernel) {
    const NotAvailable hidden{"only root sees the kernel's functions"};
    part.kernel_ns = hidden;
    part.sections_ns = hidden;
    return part;
  }
  part.kernel_ns = ns(stacks.size() - user);
  for (std::uint64_t& section : sections) section = ns(section);
  part.sections_ns = sections;
  return part;
}

}  // namespace

Measured<Faults> faults_of(const SnapshotRun& run) {
  if (!run.every_fault && run.metrics.told_by_sharing == 0) {
    return NotAvailable{kHasFaultTracepoints
                            ? "an ordinary user cannot see enough of this alternative's faults: run as root"
                            : "too few of this alternative's faults are seen: Linux has no tracepoints of page faults "
                              "on this processor"};
  }
  const RunMetrics& of = run.metrics;
  const AddressRange array{static_cast<std::uint64_t>(of.array_begin), static_cast<std::uint64_t>(of.array_end)};
  const auto begin = static_cast<std::uint64_t>(of.window_begin_ns);
  const auto end = static_cast<std::uint64_t>(of.window_end_ns);
  const bool has_helper = run.metrics.helper_tid != 0;
  Faults faults;
  Counts helper;
  faults.timeline = empty_timeline(end - begin);
  for (const SnapshotFault& fault : run.faults) {
    if (fault.time_ns < begin || fault.time_ns > end) continue;
    if (fault.pid != run.metrics.pid) {
      faults.child.add(fault.kind);
    } else if (fault.address < array.begin || fault.address >= array.end) {
      faults.elsewhere.add(fault.kind);
    } else if (has_helper && fault.tid == run.metrics.helper_tid) {
      helper.add(fault.kind);
    } else {
      (fault.time_ns < static_cast<std::uint64_t>(of.gone_ns) ? faults.before_end : faults.after_end).add(fault.kind);
      add(faults.timeline, fault.time_ns - begin, fault.kind);
    }
  }
  faults.method = run.every_fault ? FaultMethod::kTracepoints : FaultMethod::kSoftware;
  faults.lost = run.lost;
  faults.helper = has_helper ? Measured<Counts>(helper) : NotAvailable{"it has no helper thread"};
  faults.destination = destination_of(run);
  faults.traced = faults.before_end.all() + faults.after_end.all() + faults.elsewhere.all() + helper.all();
  // The kernel counts a fault for each page that a system call of the helper populates, although no exception was
  // taken.
  faults.counted = run.metrics.window_faults - run.metrics.helper_bulk_faults;
  faults.pages = array.pages().bytes() / page_bytes();
  faults.exclusive_pages = run.metrics.exclusive_pages != kNotCounted
                               ? Measured<std::int64_t>(run.metrics.exclusive_pages)
                               : NotAvailable{"there was no child to wait for"};
  faults.end_s = static_cast<double>(std::max(static_cast<std::uint64_t>(of.gone_ns), begin) - begin) / 1e9;
  return faults;
}

Measured<Cpu> cpu_of(const SnapshotRun& run) {
  const RunMetrics& of = run.metrics;
  std::vector<const Stack*> before;
  std::vector<const Stack*> after;
  std::vector<const Stack*> child;
  for (const SnapshotSample& sample : run.samples) {
    if (sample.time_ns < static_cast<std::uint64_t>(of.window_begin_ns) ||
        sample.time_ns > static_cast<std::uint64_t>(of.window_end_ns))
      continue;
    const bool of_parent = sample.pid == run.metrics.pid;
    (!of_parent                                                ? child
     : sample.time_ns < static_cast<std::uint64_t>(of.gone_ns) ? before
                                                               : after)
        .push_back(&sample.stack);
  }
  Cpu cpu{run.hz, run.lost, part_of(before, run), part_of(after, run), NotAvailable{"it has no child"}};
  if (run.metrics.child != 0) cpu.child = part_of(child, run);
  return cpu;
}

Measured<CpuTime> cpu_time_of(const SnapshotRun& run) {
  if (run.cpu_time.size() < 2) return NotAvailable{"the run was shorter than the time between two samples"};
  const std::int64_t begin = run.cpu_time.front().end_ns;
  // Converts a time of the run (such as the writers' start) to the time since the first sample.
  const auto since = [&](std::int64_t at_ns) { return std::max<std::int64_t>(at_ns - begin, 0); };
  CpuTime found{since(run.metrics.begin_ns),
                since(run.metrics.end_ns),
                since(run.metrics.stopped_ns),
                NotAvailable{"it has no child"},
                {}};
  if (run.metrics.child != 0) found.child_end_ns = since(run.metrics.gone_ns);
  for (std::size_t i = 1; i < run.cpu_time.size(); ++i) {
    const CpuInterval& before = run.cpu_time[i - 1];
    const CpuInterval& now = run.cpu_time[i];
    found.intervals.push_back(
        {{now.end_ns - begin, now.user_ns - before.user_ns, now.system_ns - before.system_ns,
          now.child_user_ns - before.child_user_ns, now.child_system_ns - before.child_system_ns}});
  }
  return found;
}

}  // namespace zerotax::snapshot
