#include "record/slot_check.h"

#include <algorithm>
#include <cstring>

namespace zerotax::record {
namespace {

/// Bytes, events or nanoseconds of one process: an EiB, or 36 years.
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 60;
constexpr std::uint32_t kAllGaps = kMadeCode | (kNoUsableSize * 2 - 1);

bool are_counts(std::initializer_list<std::uint64_t> values) {
  return std::all_of(values.begin(), values.end(), [](std::uint64_t value) { return value < kMostCount; });
}

/// Whether all words of a struct of counts from an offset on are counts.
template <typename Counts>
bool are_counts_from(const Counts& counts, std::size_t offset) {
  static_assert(sizeof(Counts) % sizeof(std::uint64_t) == 0);
  for (; offset < sizeof(Counts); offset += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(&counts) + offset, sizeof word);
    if (word >= kMostCount) return false;
  }
  return true;
}

bool is_whole(const Holdings& holdings) {
  if (holdings.closed > 1 || holdings.samples_used > kFaultSamples) return false;
  for (const FaultSample& sample : holdings.samples) {
    if (!are_counts_from(sample, 0)) return false;
  }
  return are_counts({holdings.at_start_bytes, holdings.faults_at_open, holdings.last_bytes, holdings.peak_bytes,
                     holdings.returned_bytes, holdings.returned_huge_bytes, holdings.returned_copies,
                     holdings.shared_bytes, holdings.lost_blocks, holdings.own_bytes, holdings.own_faults,
                     holdings.peak_live_bytes, holdings.kept_peak_live_bytes, holdings.at_end_bytes,
                     holdings.huge_bytes, holdings.swapped_bytes, holdings.copied_bytes, holdings.minor_faults});
}

bool is_whole(Module& module) {
  if (module.ready == 0) return true;
  end_text(module.path);
  return module.ready == 1 && module.build_id_bytes <= kBuildIdBytes && module.begin <= module.end;
}

bool is_whole(const Site& site) {
  if (site.ready == 0) return true;
  // By what failed, any number of bytes may have been requested.
  bool whole = site.ready == 1 && site.kind < SiteKind::kFault && site.depth <= kFrames &&
               are_counts({site.calls, site.zeroed_bytes, site.redundant_bytes, site.zero_ns, site.zero_faults,
                           site.sampled_zeroed_bytes, site.sampled_redundant_bytes, site.kernel_zeroed_bytes,
                           site.refilled_bytes, site.first_pages.bytes, site.first_pages.events, site.growth.bytes,
                           site.growth.events});
  for (const auto& bytes : site.returned) whole = whole && bytes < kMostCount;
  return whole;
}

bool is_whole(const ThreadBlock& block) {
  if (block.state == BlockState::kFree) return true;
  if (block.state.load() > BlockState::kEnded || block.merged > ~std::uint32_t{0} / 2) return false;
  for (const auto& kind : block.calls) {
    for (const CallRow& row : kind) {
      if (row.calls >= kMostCount) return false;
    }
  }
  return are_counts_from(static_cast<const Tally&>(block), offsetof(Tally, zeroed));
}

template <typename Rows>
bool are_whole(Rows& rows) {
  return std::all_of(std::begin(rows), std::end(rows), [](auto& row) { return is_whole(row); });
}

}  // namespace

bool is_whole(ProcessSlot& slot) {
  end_text(slot.executable);
  end_text(slot.command);
  end_text(slot.allocator);
  const bool times = is_time(slot.started_ns) && is_time(slot.ended_ns) && is_time(slot.user_ns) &&
                     is_time(slot.system_ns) && is_time(slot.cpu_at_start_ns) && is_time(slot.cpu_ns);
  return times && slot.ready == 1 && (slot.gaps & ~kAllGaps) == 0 && slot.pid > 0 && slot.parent >= 0 &&
         slot.forked <= 1 && slot.ended <= 1 && slot.threads_used <= kThreads && slot.modules_used <= kModules &&
         slot.sites_lost < kMostCount && is_whole(slot.holdings) && are_whole(slot.modules) && are_whole(slot.sites) &&
         are_whole(slot.threads);
}

}  // namespace zerotax::record
