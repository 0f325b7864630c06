#include "record/beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/units.h"
#include "os/pagemap.h"

namespace zerotax::record {
namespace {

/// Returns the shared memory that a process had mapped at its end, or at the last sample if its end was not seen.
Count shared_bytes(const ProcessSlot& slot, const RunWatch* watch, const RecordArena& arena) {
  const Holdings& holdings = slot.holdings;
  const std::uint64_t closed = holdings.shared_resident_bytes;
  const bool is_closed = holdings.closed != 0 && slot.forked == 0 && closed != kUnknownBytes;
  const auto look = watch != nullptr ? watch->last_look(slot) : std::nullopt;
  if (!is_closed && !look) return NotAvailable{"no process was sampled before its end"};
  // The recording itself is shared memory, but does not belong to the process.
  const std::uint64_t own = is_closed ? holdings.own_shared_bytes : arena.used_bytes();
  return std::max(is_closed ? closed : 0, look ? less(look->shared_bytes, own) : 0);
}

/// Returns the shared memory of the process with the most shared memory. A sum would count memory of several processes
/// more than once.
Count most_shared_bytes(const SeenRun& seen, const RunWatch* watch, const RecordArena& arena) {
  Count most = NotAvailable{"no process was recorded"};
  for (const ProcessSlot* slot : seen.processes()) {
    const Count bytes = shared_bytes(*slot, watch, arena);
    if (bytes && bytes.value_or(0) >= most.value_or(0)) most = bytes;
    if (!bytes && !most) most = bytes;
  }
  return most;
}

/// Returns the bytes in pages of large blocks that were read and never written.
Count zero_page_bytes(const std::vector<const ProcessSlot*>& processes) {
  std::uint64_t sum = 0;
  for (const ProcessSlot* slot : processes) {
    if (slot->pagemap_method != static_cast<std::uint32_t>(Pagemap::Method::kScan)) {
      return NotAvailable{"this kernel does not report zero pages (PAGEMAP_SCAN needs Linux 6.7 or later)"};
    }
    sum += slot->holdings.zero_page_bytes + slot->holdings.live_zero_page_bytes;
  }
  return sum;
}

/// Returns the CPU time of processes after their counts were closed, while the kernel freed their memory. If a process
/// was not waited for, the result is too small: `waited` lacks the time that the process counted itself.
Count exit_ns(const SeenRun& seen, std::uint64_t waited, const std::vector<NotFollowed>& missed) {
  if (!missed.empty()) return NotAvailable{"not all programs of the run recorded their end"};
  std::map<std::int32_t, const ProcessSlot*> last;
  std::uint64_t until_end = 0;
  for (const ProcessSlot* slot : seen.processes()) {
    if (!seen.sharers(*slot).faults_known) return NotAvailable{kUnseenSharers};
    if (!seen.sharers(*slot).children_known) return NotAvailable{kUnseenChildren};
    until_end += seen.sharers(*slot).cpu_ns;
    const ProcessSlot*& known = last[slot->pid];
    if (known == nullptr || slot->started_ns > known->started_ns) known = slot;
  }
  for (const auto& [pid, slot] : last) {
    if (slot->holdings.closed == 0) return NotAvailable{"the end of a process was not seen"};
    until_end += static_cast<std::uint64_t>(std::max<std::int64_t>(0, slot->cpu_ns));
  }
  if (until_end > waited) return NotAvailable{"some process of the run was never waited for"};
  return waited - until_end;
}

/// Returns 0 without forks. Otherwise, the bytes that fork itself copied are unknown, because fork copies pages that
/// are pinned for a device without a fault.
BesideRow copied_in_fork(const std::vector<const ProcessSlot*>& processes) {
  std::uint64_t pinned = 0;
  bool forked = false;
  for (const ProcessSlot* slot : processes) {
    pinned += slot->holdings.pinned_bytes;
    forked = forked || slot->forked != 0 || slot->holdings.quiet_begun != 0;
  }
  if (!forked) return {Beside::kCopiedInFork, std::uint64_t{0}, {}};
  if (pinned == 0) {
    return {Beside::kCopiedInFork,
            NotAvailable{"fork copies pages that are pinned for a device, and no counter shows their number"},
            {}};
  }
  const std::string why =
      fmt::format("{} were pinned at the end, and each fork copies pinned pages without a fault", format_size(pinned));
  return {Beside::kCopiedInFork, NotAvailable{why}, {}, pinned >= kLargeBytes};
}

}  // namespace

std::vector<BesideRow> beside_of(const SeenRun& seen, const RunWatch* watch, const RecordArena& arena,
                                 const ForegroundResult& run, const std::vector<NotFollowed>& missed) {
  const std::vector<const ProcessSlot*>& processes = seen.processes();
  Count throttled = NotAvailable{kNotWatched};
  if (watch != nullptr) throttled = watch->throttled_ns();
  const auto waited = static_cast<std::uint64_t>(run.user_ns + run.system_ns);
  return {{Beside::kSharedMemory, most_shared_bytes(seen, watch, arena), {}, false, true},
          {Beside::kZeroPages, zero_page_bytes(processes), {}},
          copied_in_fork(processes),
          {Beside::kExit, {}, exit_ns(seen, waited, missed)},
          {Beside::kThrottled, {}, throttled}};
}

}  // namespace zerotax::record
