#include <algorithm>

#include "os/page.h"
#include "os/processor.h"
#include "snapshot/result.h"

namespace zerotax::snapshot {
namespace {

constexpr std::uint64_t kBinNs = 10'000'000;
constexpr std::uint64_t kMostBins = 50;

/// Times since the snapshot in equal parts, few enough to be drawn.
Timeline empty_timeline(std::uint64_t length_ns) {
  const std::uint64_t bin_ns =
      kBinNs * std::max<std::uint64_t>(1, (length_ns + kBinNs * kMostBins - 1) / (kBinNs * kMostBins));
  return {bin_ns, std::vector<Counts>(length_ns / bin_ns + 1)};
}

void add(Timeline& timeline, std::uint64_t at_ns, FaultClass kind) {
  timeline.bins[std::min(at_ns / timeline.bin_ns, timeline.bins.size() - 1)].add(kind);
}

/// Faults on the destination, of the parent and of the child, at any time.
Measured<Destination> destination_of(const SnapshotRun& run) {
  const auto at = [&](const char* name) { return static_cast<std::uint64_t>(run.figure(name)); };
  // By whole pages: the allocator's own write before the block may be the first on a page of it.
  const AddressRange range = AddressRange{at("destination_begin"), at("destination_end")}.pages();
  if (range.bytes() == 0) return NotAvailable{"it is shared memory that is populated beforehand"};
  Destination destination{range.bytes() / page_bytes(), {}, {}};
  for (const SnapshotFault& fault : run.faults) {
    if (fault.address < range.begin || fault.address >= range.end) continue;
    (fault.pid == run.figure("pid") ? destination.parent : destination.child).add(fault.kind);
  }
  return destination;
}

}  // namespace

Measured<Faults> faults_of(const SnapshotRun& run) {
  if (!run.every_fault && run.figure("told_by_sharing") == 0) {
    return NotAvailable{kHasFaultTracepoints
                            ? "an ordinary user cannot see enough of this alternative's faults: run as root"
                            : "too few of this alternative's faults are seen: Linux has no tracepoints of page faults "
                              "on this processor"};
  }
  const auto at = [&](const char* name) { return static_cast<std::uint64_t>(run.figure(name)); };
  const AddressRange array{at("array_begin"), at("array_end")};
  const std::uint64_t begin = at("window_begin_ns");
  const std::uint64_t end = at("window_end_ns");
  const bool has_helper = run.has("helper_tid");
  Faults faults;
  Counts helper;
  faults.timeline = empty_timeline(end - begin);
  for (const SnapshotFault& fault : run.faults) {
    if (fault.time_ns < begin || fault.time_ns > end) continue;
    if (fault.pid != run.figure("pid")) {
      faults.child.add(fault.kind);
    } else if (fault.address < array.begin || fault.address >= array.end) {
      faults.elsewhere.add(fault.kind);
    } else if (has_helper && fault.tid == run.figure("helper_tid")) {
      helper.add(fault.kind);
    } else {
      (fault.time_ns < at("gone_ns") ? faults.before_end : faults.after_end).add(fault.kind);
      add(faults.timeline, fault.time_ns - begin, fault.kind);
    }
  }
  faults.method = run.every_fault ? FaultMethod::kTracepoints : FaultMethod::kSoftware;
  faults.lost = run.lost;
  faults.helper = has_helper ? Measured<Counts>(helper) : NotAvailable{"it has no helper thread"};
  faults.destination = destination_of(run);
  faults.traced = faults.before_end.all() + faults.after_end.all() + faults.elsewhere.all() + helper.all();
  // Pages that a system call of the helper populates are counted as faults, though no exception was taken.
  faults.counted = run.figure("window_faults") - run.figure("helper_bulk_faults");
  faults.pages = array.pages().bytes() / page_bytes();
  faults.exclusive_pages = run.has("exclusive_pages") ? Measured<std::int64_t>(run.figure("exclusive_pages"))
                                                      : NotAvailable{"there was no child to wait for"};
  faults.end_s = static_cast<double>(std::max(at("gone_ns"), begin) - begin) / 1e9;
  return faults;
}

}  // namespace zerotax::snapshot
