#include "thresholds/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/printable.h"
#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "point/point_health.h"
#include "thresholds/map.h"

namespace zerotax::thresholds {
namespace {

/// The words of the failing side of a search that was read from a file, where no more is known.
std::string failing_status(const ThresholdSearch& found) {
  if (!is_healthy_status(found.at_from.status)) return found.at_from.status;
  for (const Threshold& threshold : found.thresholds) {
    for (const Signature* side : {&threshold.below, &threshold.above}) {
      if (!is_healthy_status(side->status))
        return fmt::format("near {}: {}", format_size(threshold.at_bytes), side->status);
    }
  }
  return "";
}

std::string lane_name(const ThresholdLane& lane) {
  return fmt::format("touch {:g}, {} thread", lane.touch, lane.thread);
}

bool same_findings(const ThresholdLane& one, const ThresholdLane& other) {
  return one.searched == other.searched && failure_of(one) == failure_of(other) &&
         one.found.at_from == other.found.at_from && one.found.thresholds == other.found.thresholds;
}

std::string lane_text(const ThresholdLane& lane) {
  if (!lane.searched) return "    not searched: interrupted\n";
  std::string text;
  const Signature& first = lane.found.at_from;
  const std::string doing = first.refilling.refilled.empty() ? words_of(doing_of(first)).words : refilling_text(first);
  text += wrap("from the start: " + (first.status == "ok" ? doing + free_words(first.reuse) : first.status), "    ",
               "      ");
  for (const Threshold& threshold : lane.found.thresholds) {
    if (!threshold.exact()) {
      text += wrap(fmt::format("somewhere from {} to {}, hidden by noise, too many changes or what is unknown",
                               format_count(threshold.after_bytes + 1), format_count(threshold.at_bytes)),
                   "  ", "    ");
    } else {
      text += fmt::format("  {:>15}  {}{}\n", format_count(threshold.at_bytes), format_size(threshold.at_bytes),
                          lane.found.is_noisy(threshold) ? "  (noisy: probed again, it behaved otherwise)" : "");
    }
    for (const BehaviourChange& change : describe_change(threshold.below, threshold.above))
      text += wrap(change.words, "      ", "        ");
  }
  if (const std::string failure = failure_of(lane); !failure.empty())
    text += wrap("the search failed: " + failure, "    ", "      ");
  if (lane.found.thresholds.empty()) {
    text += fmt::format("    no change found: {}\n",
                        lane.found.grid == 1 ? "only 1 size was looked at"
                                             : fmt::format("all {} sizes looked at behave alike", lane.found.grid));
  }
  return text;
}

}  // namespace

std::string failure_of(const ThresholdLane& lane) {
  if (!lane.searched) return "";
  return lane.failure.empty() ? failing_status(lane.found) : lane.failure;
}

std::string thresholds_text(const std::vector<ThresholdLane>& lanes) {
  std::string text;
  std::vector<bool> shown(lanes.size(), false);
  std::string last;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (shown[i]) continue;
    const std::string label = printable(lanes[i].allocator.name + " " + lanes[i].allocator.version);
    if (label != last) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", label);
    last = label;
    std::vector<std::string> names;
    for (std::size_t j = i; j < lanes.size(); ++j) {
      if (lanes[j].allocator.name != lanes[i].allocator.name || !same_findings(lanes[i], lanes[j])) continue;
      shown[j] = true;
      names.push_back(lane_name(lanes[j]));
    }
    text += wrap(fmt::format("{}", fmt::join(names, "; ")), "  ", "  ") + lane_text(lanes[i]);
  }
  return text;
}

}  // namespace zerotax::thresholds
