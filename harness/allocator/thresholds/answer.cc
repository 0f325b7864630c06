#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/lines.h"
#include "base/shell.h"
#include "base/units.h"
#include "judge/projects.h"
#include "point/typed_point.h"
#include "thresholds/map.h"
#include "thresholds/table.h"

namespace zerotax::thresholds {
namespace {

constexpr std::size_t kLongestName = 12;
constexpr std::size_t kMostChanges = 2;

/// A size at which the zeroing of later calls changes. Of all searches that found this size, the one with the most
/// costly change is kept.
struct Row {
  const ThresholdLane* lane;
  const Threshold* threshold;
  std::string below;
  std::string above;
  bool fails;
  double bytes;  ///< bytes of each call that are zeroed only on one side of the threshold
};

double part_of(const std::string& share) { return share == "all" ? 1 : share == "part" ? 0.5 : 0; }

double zeroed_by_allocator(const Behaviour& later) { return part_of(later.zeroed) + part_of(later.in_free.zeroed); }

/// Returns the share of a block that the kernel zeroes. If free returns memory, the share is at least the touched
/// fraction.
double zeroed_by_kernel(const Signature& signature, double touch) {
  if (!signature.refilling.empty()) return part_of(signature.refilling.refilled);
  return std::max(part_of(signature.reuse.populated), gives_back(signature.reuse) ? touch : 0);
}

std::string side_words(const Signature& signature) {
  if (signature.status != "ok") return signature.status == "not_zero" ? "not zero" : signature.status;
  if (const std::string& refilled = signature.refilling.refilled; !refilled.empty()) {
    return refilled == "none" ? "kept" : refilled == "n/a" ? "unknown" : refilled + " refilled";
  }
  const Behaviour& later = signature.reuse;
  const Doing doing = doing_of(signature);
  if (doing == Doing::kUnknown) return "unknown";
  const bool in_free = part_of(later.in_free.zeroed) > 0;
  const char* zeros = doing == Doing::kNeedless ? "needless" : doing == Doing::kDirty ? "needed" : "none";
  return fmt::format("{}, {}", in_free && part_of(later.zeroed) == 0 ? "in free" : zeros,
                     gives_back(later) ? "returned" : "kept");
}

Row row_of(const ThresholdLane& lane, const Threshold& threshold) {
  const Signature& below = threshold.below;
  const Signature& above = threshold.above;
  const double own = std::abs(zeroed_by_allocator(above.reuse) - zeroed_by_allocator(below.reuse));
  const double kernel = std::abs(zeroed_by_kernel(above, lane.touch) - zeroed_by_kernel(below, lane.touch));
  return {&lane,
          &threshold,
          side_words(below),
          side_words(above),
          any_fails(describe_change(below, above)),
          static_cast<double>(threshold.at_bytes) * (own + kernel)};
}

bool is_same(const Row& one, const Row& other) {
  return one.lane->allocator.name == other.lane->allocator.name &&
         one.lane->allocator.env == other.lane->allocator.env && one.threshold->at_bytes == other.threshold->at_bytes;
}

/// Returns the rows of the answer, the most costly first.
std::vector<Row> rows_of(const Thresholds& thresholds) {
  std::vector<Row> rows;
  for (const ThresholdLane& lane : thresholds.lanes) {
    for (const Threshold& threshold : lane.found.thresholds) {
      Row row = row_of(lane, threshold);
      if (row.bytes == 0 && row.below == row.above) continue;
      const auto known = std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return is_same(each, row); });
      if (known == rows.end()) {
        rows.push_back(std::move(row));
      } else if (row.fails > known->fails || row.bytes > known->bytes) {
        *known = std::move(row);
      }
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(a.fails, a.bytes) > std::pair(b.fails, b.bytes);
  });
  return rows;
}

/// Returns a label. Omits the version of a preloaded library, because that version is often a build ID.
std::string label_of(const ThresholdLane& lane) {
  const Allocator& allocator = lane.allocator;
  return allocator.name + (allocator.version.empty() || allocator.preload ? "" : " " + allocator.version);
}

std::string size_words(const Threshold& threshold) {
  const std::string bytes =
      fmt::format("{} ({})", format_counted(threshold.at_bytes, "byte"), format_size(threshold.at_bytes));
  return threshold.exact() ? bytes : fmt::format("{} to {}", format_count(threshold.after_bytes + 1), bytes);
}

/// Thresholds of all searches, counting each size of an allocator once.
struct Found {
  std::set<std::string> allocators;
  std::set<std::pair<std::string, std::uint64_t>> sizes;
  std::set<std::pair<std::string, std::uint64_t>> doubtful;
  std::size_t searches = 0;
  std::size_t probes = 0;
  std::size_t grid = 0;  ///< minimum number of sizes in a search's first grid
};

Found found_in(const Thresholds& thresholds) {
  Found found;
  for (const ThresholdLane& lane : thresholds.lanes) {
    if (!lane.searched) continue;
    ++found.searches;
    found.allocators.insert(label_of(lane) + settings_words(lane.allocator.env));
    found.probes += lane.found.probes;
    found.grid = found.searches == 1 ? lane.found.grid : std::min(found.grid, lane.found.grid);
    for (const Threshold& threshold : lane.found.thresholds) {
      found.sizes.emplace(lane.allocator.name, threshold.at_bytes);
      if (lane.found.is_doubtful(threshold)) found.doubtful.emplace(lane.allocator.name, threshold.at_bytes);
    }
  }
  return found;
}

/// Returns the behaviors of later calls at the smallest size, from all searches.
std::string without_change(const Thresholds& thresholds) {
  std::set<std::string> all;
  for (const ThresholdLane& lane : thresholds.lanes) {
    if (!lane.searched) continue;
    const Signature& first = lane.found.at_from;
    all.insert(first.status != "ok"       ? "the probe ended as " + side_words(first)
               : !first.refilling.empty() ? refilling_text(first)
                                          : fmt::format("each later calloc {}", words_for(doing_of(first))));
  }
  return fmt::format("{}", fmt::join(all, "; or "));
}

std::string headline(const Thresholds& thresholds, const Found& found, const std::vector<Row>& rows) {
  if (found.searches == 0) return "No search for thresholds was finished.";
  const bool one = found.allocators.size() == 1;
  const std::string who = one ? *found.allocators.begin() : format_counted(found.allocators.size(), "allocator");
  const ThresholdLane& lane = thresholds.lanes.front();
  if (found.sizes.empty()) {
    return fmt::format("{}: no change of behavior was found from {} to {}. At every size probed, {}.", who,
                       format_size(lane.from_bytes), format_size(lane.to_bytes), without_change(thresholds));
  }
  const std::size_t exact = found.sizes.size() - found.doubtful.size();
  const bool single = found.sizes.size() == 1;
  std::string text = fmt::format("{} change{} behavior at {}, {}found to the byte.", who, one ? "s" : "",
                                 format_counted(found.sizes.size(), "size"),
                                 !found.doubtful.empty() ? format_count(exact) + " of them "
                                 : single                ? ""
                                                         : "each ");
  if (rows.empty()) {
    return text +
           fmt::format(" None of these changes affects the zeroing of later calls: {}.", without_change(thresholds));
  }
  const Row& worst = rows.front();
  const std::string of = one ? "" : " of " + worst.lane->allocator.name;
  if (worst.fails) {
    return text +
           fmt::format(" The most severe is {}{}: calls on one side of it fail.", size_words(*worst.threshold), of);
  }
  if (worst.bytes == 0) {
    return text + (single ? " This change does not affect the number of bytes that later calls zero."
                          : " None of these changes affects the number of bytes that later calls zero.");
  }
  return text + fmt::format(" The most costly is {}{}: one byte decides whether each {} has {} zeroed.",
                            size_words(*worst.threshold), of, thresholds.is_plain() ? "calloc" : "round's block",
                            format_size(static_cast<std::uint64_t>(worst.bytes)));
}

Table table_of(const std::vector<Row>& rows, bool is_plain) {
  Table table({{"allocator", Unit::kText, 10},
               right_text("from bytes", 11),
               {is_plain ? "zeros below it" : "memory below it", Unit::kText, 18, "", {}, 2},
               {is_plain ? "zeros from it on" : "memory from it on", Unit::kText, 18},
               {"touch", Unit::kText}});
  for (const Row& row : rows) {
    table.add({first_characters(row.lane->allocator.name, kLongestName), format_count(row.threshold->at_bytes),
               row.below, row.above,
               fmt::format("{:g}{}", row.lane->touch, row.lane->thread == "main" ? "" : " worker")});
  }
  return table;
}

std::string where(const Row& row) {
  std::vector<std::string> changes;
  for (const BehaviourChange& change : describe_change(row.threshold->below, row.threshold->above)) {
    if (changes.size() < kMostChanges) changes.push_back(change.words);
  }
  return fmt::format("{} at {}, touch {:g}, {} thread: {}.", label_of(*row.lane), size_words(*row.threshold),
                     row.lane->touch, row.lane->thread, fmt::join(changes, "; "));
}

bool is_needless(const Signature& signature) {
  return signature.refilling.empty() && doing_of(signature) == Doing::kNeedless;
}

/// Returns an allocator that zeroes needlessly and whose project takes reports: the one with the most costly threshold,
/// or else any other. Empty if no allocator qualifies.
std::string reported_allocator(const Thresholds& thresholds, const std::vector<Row>& rows) {
  const auto is_reported = [](const std::string& name) {
    const Project* project = project_of(name);
    return project == nullptr || !project->deliberate;
  };
  for (const Row& row : rows) {
    const std::string& name = row.lane->allocator.name;
    if ((is_needless(row.threshold->below) || is_needless(row.threshold->above)) && is_reported(name)) return name;
  }
  for (const ThresholdLane& lane : thresholds.lanes) {
    if (lane.searched && is_needless(lane.found.at_from) && is_reported(lane.allocator.name))
      return lane.allocator.name;
  }
  return "";
}

std::vector<Answer::Step> steps(const Thresholds& thresholds, const std::vector<Row>& rows,
                                const std::vector<std::string>& words) {
  std::vector<Answer::Step> all;
  if (!rows.empty() && rows.front().threshold->exact()) {
    const Row& worst = rows.front();
    all.push_back(
        {both_sides_command(thresholds, *worst.lane, *worst.threshold, words), "time both sides of this threshold:"});
  }
  if (const std::string name = reported_allocator(thresholds, rows); !name.empty()) {
    add_alternative(all,
                    {shell_text({"zerotax", "report", "--allocator", word_for(name, words)}), "write a bug report:"});
  }
  return all;
}

std::vector<std::string> warnings(const Thresholds& thresholds, const Found& found) {
  std::vector<std::string> all;
  for (const ThresholdLane& lane : thresholds.lanes) {
    const std::string failure = failure_of(lane);
    if (failure.empty()) continue;
    all.push_back(fmt::format("The search of {} failed with touch {:g}, {} thread: {}.", lane.allocator.name,
                              lane.touch, lane.thread, failure));
  }
  if (const std::size_t missing = thresholds.lanes.size() - found.searches; missing > 0) {
    all.push_back(fmt::format("{} did not finish.", format_counted(missing, "search", "searches")));
  }
  if (!found.doubtful.empty()) {
    all.push_back(fmt::format("{} unreliable: a second probe behaved differently, or only a range is known.",
                              format_counted(found.doubtful.size(), "size is", "sizes are")));
  }
  return all;
}

std::string legend(const Thresholds& thresholds, const Found& found, bool has_rows) {
  std::string probes = fmt::format("From {}; a change that ends before the next of {} is missed.",
                                   format_counted(found.probes, "probe"), format_counted(found.grid, "first size"));
  if (!has_rows) return probes;
  return fmt::format("{}touch: share of a block that is written, where it costs most. {}",
                     thresholds.is_plain() ? "needless: zeros over zeros. returned: to the kernel. " : "", probes);
}

}  // namespace

Answer answer(const Thresholds& thresholds, const std::vector<std::string>& words) {
  const Found found = found_in(thresholds);
  const std::vector<Row> rows = rows_of(thresholds);
  Answer answer{.headline = headline(thresholds, found, rows)};
  if (!rows.empty()) {
    answer.table = table_of(rows, thresholds.is_plain());
    answer.where = where(rows.front());
  }
  answer.steps = steps(thresholds, rows, words);
  answer.warnings = warnings(thresholds, found);
  if (found.searches > 0) answer.legend = legend(thresholds, found, !rows.empty());
  answer.more = "All thresholds, with all changes";
  return answer;
}

}  // namespace zerotax::thresholds
