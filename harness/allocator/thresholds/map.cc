#include "thresholds/map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "point/typed_point.h"

namespace zerotax::thresholds {
namespace {

bool is_like(const MapLane& worker, const MapLane& main) {
  const ThresholdLane& one = *worker.lane;
  const ThresholdLane& other = *main.lane;
  return one.thread != "main" && other.thread == "main" && one.allocator.name == other.allocator.name &&
         one.touch == other.touch && worker.pieces == main.pieces &&
         std::equal(one.found.thresholds.begin(), one.found.thresholds.end(), other.found.thresholds.begin(),
                    other.found.thresholds.end(), [&](const Threshold& mine, const Threshold& its) {
                      return mine.at_bytes == its.at_bytes && mine.is_steady() == its.is_steady() &&
                             one.found.is_doubtful(mine) == other.found.is_doubtful(its);
                    });
}

/// Numbers and names for the sentences about a map.
struct Counts {
  std::set<std::string> allocators;                       ///< names of allocators with their settings
  std::set<std::pair<std::string, std::uint64_t>> sizes;  ///< sizes at which an allocator's behavior changes
  std::set<std::string> endings;                          ///< how points without a known behavior ended, in words
  std::size_t thresholds = 0;
  std::size_t exact = 0;
  std::uint64_t doubtful = 0;  ///< number of drawn thresholds that are unreliable
  bool has_worker = false;     ///< whether the lane of a worker is drawn
};

Counts counts_of(const std::vector<MapLane>& lanes) {
  Counts counts;
  const auto count_ending = [&](const std::string& status) {
    if (status == "ok") return;
    counts.endings.insert(status == "not_zero" ? "not zero" : status == "timeout" ? "timed out" : status);
  };
  for (const MapLane& each : lanes) {
    const ThresholdSearch& found = each.lane->found;
    counts.allocators.insert(each.name);
    count_ending(found.at_from.status);
    for (const Threshold& threshold : found.thresholds) {
      counts.sizes.emplace(each.lane->allocator.name, threshold.at_bytes);
      count_ending(threshold.above.status);
      counts.exact += threshold.exact() ? 1 : 0;
      counts.doubtful += found.is_doubtful(threshold) && !each.like_main ? 1 : 0;
    }
    counts.thresholds += found.thresholds.size();
    counts.has_worker |= each.lane->thread == "worker" && !each.like_main;
  }
  return counts;
}

std::string found_words(const Counts& counts) {
  return counts.exact == counts.thresholds
             ? ", each found to the byte"
             : fmt::format(", {} of {} found to the byte", counts.exact, counts.thresholds);
}

/// Returns a title such as "What calloc does, by size: 7 allocators change at 19 sizes, each found to the byte".
std::string title_of(const Counts& counts) {
  const bool one = counts.allocators.size() == 1;
  const std::string who = one ? *counts.allocators.begin() : format_counted(counts.allocators.size(), "allocator");
  const std::string what = "What calloc does, by size: ";
  if (counts.sizes.empty()) return fmt::format("{}no change found in {}", what, who);
  return fmt::format("{}{} change{} at {}{}", what, who, one ? "s" : "", format_counted(counts.sizes.size(), "size"),
                     found_words(counts));
}

/// Returns a sentence such as "38 thresholds in 14 searches, each found to the byte."
std::string sentence_of(const Counts& counts, std::size_t searches) {
  const bool none = counts.thresholds == 0;
  return fmt::format("{} in {}{}.", none ? "No thresholds found" : format_counted(counts.thresholds, "threshold"),
                     format_counted(searches, "search", "searches"), none ? "" : found_words(counts));
}

/// Returns notes on unreliable and missing parts of the map.
std::vector<std::string> notes_of(const Counts& counts) {
  std::vector<std::string> notes;
  if (counts.has_worker) {
    notes.emplace_back("A worker thread has its own bar only where the thread differs from the main thread.");
  }
  if (counts.doubtful > 0) {
    notes.push_back(
        fmt::format("Dashed: {}. The size behaved differently when probed again, or behavior changes back and forth.",
                    format_counted(counts.doubtful, "unreliable mark")));
  }
  if (!counts.endings.empty()) {
    notes.push_back(fmt::format("Unknown where a point ended as: {}.", fmt::join(counts.endings, ", ")));
  }
  return notes;
}

}  // namespace

const std::array<DoingWords, 5>& doings() {
  static const std::array<DoingWords, 5> kAll{{{word(Doing::kNoZerosBack), "writes no zeros, gives memory back"},
                                               {word(Doing::kNoZerosKept), "writes no zeros, keeps memory"},
                                               {word(Doing::kDirty), "zeroes what was dirty"},
                                               {word(Doing::kNeedless), "zeroes needlessly"},
                                               {word(Doing::kUnknown), "not known"}}};
  return kAll;
}

const char* words_for(Doing doing) { return doings()[static_cast<std::size_t>(doing)].words; }

Doing doing_of(const Signature& signature) {
  const Behaviour& later = signature.reuse;
  if (signature.status != "ok" || is_unknown(later.zeroed)) return Doing::kUnknown;
  if (later.zeroed == "none") {
    if (later.free_syscalls.size() == 1 && is_unknown(*later.free_syscalls.begin())) return Doing::kUnknown;
    return gives_back(later) ? Doing::kNoZerosBack : Doing::kNoZerosKept;
  }
  if (is_unknown(later.redundant)) return Doing::kUnknown;
  return later.redundant == "none" ? Doing::kDirty : Doing::kNeedless;
}

std::vector<Piece> pieces_of(const ThresholdSearch& found, std::uint64_t from_bytes, std::uint64_t to_bytes) {
  std::vector<Piece> pieces{{from_bytes, to_bytes, doing_of(found.at_from)}};
  for (const Threshold& threshold : found.thresholds) {
    const Doing doing = doing_of(threshold.above);
    if (pieces.back().word == doing) continue;
    pieces.back().to_bytes = threshold.at_bytes - 1;
    pieces.push_back({threshold.at_bytes, to_bytes, doing});
  }
  return pieces;
}

Map map_of(const Thresholds& thresholds) {
  Map map;
  for (const ThresholdLane& lane : thresholds.lanes) {
    if (!lane.searched) continue;
    map.lanes.push_back({&lane, lane.allocator.name + settings_words(lane.allocator.env),
                         pieces_of(lane.found, lane.from_bytes, lane.to_bytes)});
  }
  for (MapLane& each : map.lanes) {
    each.like_main =
        std::any_of(map.lanes.begin(), map.lanes.end(), [&](const MapLane& other) { return is_like(each, other); });
  }
  const Counts counts = counts_of(map.lanes);
  map.title = title_of(counts);
  map.sentence = sentence_of(counts, map.lanes.size());
  map.notes = notes_of(counts);
  return map;
}

}  // namespace zerotax::thresholds
