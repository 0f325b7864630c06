#include "record/slot_check.h"

#include <algorithm>
#include <cstring>

namespace zerotax::record {
namespace {

/// Maximum of a count of bytes or events in one process: an EiB. Times are not checked, because a program may set its
/// clock.
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 60;
constexpr std::uint32_t kAllGaps = kMadeCode | (kOwnScope * 2 - 1);

bool all_counts(std::initializer_list<std::uint64_t> values) {
  return std::all_of(values.begin(), values.end(), [](std::uint64_t value) { return value < kMostCount; });
}

/// Whether all words of a row are valid counts.
template <typename Row>
bool are_counts(const Row& row) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  static_assert(sizeof(Row) % kWord == 0);
  for (std::size_t at = 0; at < sizeof(Row); at += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(&row) + at, kWord);
    if (word >= kMostCount) return false;
  }
  return true;
}

bool is_whole(const Holdings& holdings) {
  if (holdings.closed > 1 || holdings.samples_used > kFaultSamples) return false;
  for (const FaultSample& sample : holdings.samples) {
    if (!all_counts({sample.bytes, sample.faults})) return false;
  }
  const std::uint64_t shared = holdings.shared_resident_bytes;
  if (shared != kUnknownBytes && !all_counts({shared})) return false;
  return all_counts({holdings.peak_large_live_bytes,
                     holdings.large_whole_bytes,
                     holdings.zero_page_bytes,
                     holdings.live_zero_page_bytes,
                     holdings.own_shared_bytes,
                     holdings.pinned_bytes,
                     holdings.at_start_bytes,
                     holdings.faults_at_open,
                     holdings.last_bytes,
                     holdings.peak_bytes,
                     holdings.returned_bytes,
                     holdings.returned_huge_bytes,
                     holdings.returned_copies,
                     holdings.shared_bytes,
                     holdings.returned_zero_bytes,
                     holdings.hugetlb_mapped_bytes,
                     holdings.private_shared_bytes,
                     holdings.program_mapped_bytes,
                     holdings.image_bytes,
                     holdings.file_mapped_bytes,
                     holdings.forked_bytes,
                     holdings.collapsed_bytes,
                     holdings.collapsed_small_bytes,
                     holdings.copied_in_bytes,
                     holdings.hugetlb_bytes,
                     holdings.at_end_zero_bytes,
                     holdings.file_bytes,
                     holdings.files_at_open_bytes,
                     holdings.lost_blocks,
                     holdings.sharers_begun,
                     holdings.sharers_ended,
                     holdings.sharers_faults,
                     holdings.sharers_cpu_ns,
                     holdings.own_bytes,
                     holdings.own_faults,
                     holdings.peak_live_bytes,
                     holdings.kept_peak_live_bytes,
                     holdings.at_end_bytes,
                     holdings.huge_bytes,
                     holdings.swapped_bytes,
                     holdings.copied_bytes,
                     holdings.minor_faults});
}

bool is_whole(Module& module) {
  if (module.ready == 0) return true;
  end_text(module.path);
  return module.ready == 1 && module.build_id_bytes <= kBuildIdBytes && module.begin <= module.end;
}

bool is_whole(const Site& site) {
  if (site.ready == 0) return true;
  // Requested bytes are not checked: failed calls may have requested any number.
  bool whole = site.ready == 1 && site.kind < SiteKind::kFault && site.depth <= kFrames &&
               all_counts({site.calls, site.zeroed_bytes, site.redundant_bytes, site.zero_faults,
                           site.sampled_zeroed_bytes, site.sampled_redundant_bytes, site.unexamined_bytes,
                           site.sampled_calls, site.sampled_clears_bytes, site.kernel_zeroed_bytes, site.refilled_bytes,
                           site.first_pages.bytes, site.first_pages.events, site.growth.bytes, site.growth.events});
  for (const auto& bytes : site.returned) whole = whole && bytes < kMostCount;
  return whole;
}

bool is_whole(const ThreadBlock& block) {
  if (block.state == BlockState::kFree) return true;
  if (block.state.load() > BlockState::kEnded || block.merged > ~std::uint32_t{0} / 2) return false;
  // Requested bytes are not checked: failed calls may have requested any number.
  for (const auto& kind : block.calls) {
    for (const CallRow& row : kind) {
      if (row.calls >= kMostCount) return false;
    }
  }
  for (const auto& cause : block.returned) {
    for (const ReturnRow& row : cause) {
      if (!all_counts({row.calls, row.bytes})) return false;
    }
  }
  for (const ZeroCost& cost : block.cost) {
    if (!all_counts({cost.bytes, cost.faults})) return false;
  }
  return are_counts(block.zeroed) && are_counts(block.filled) && are_counts(block.small_returns) &&
         all_counts({block.sampled_stores, block.sampled_bytes, block.sampled_redundant_bytes, block.unseen_calls,
                     block.unseen_bytes, block.free_calls, block.mapping_calls, block.sampled_returns,
                     block.huge_blocks, block.huge_examined_bytes, block.huge_written_bytes, block.offered_bytes});
}

template <typename Rows>
bool are_whole(Rows& rows) {
  return std::all_of(std::begin(rows), std::end(rows), [](auto& row) { return is_whole(row); });
}

}  // namespace

bool is_whole(ProcessSlot& slot) {
  end_text(slot.name);
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
