#include "thresholds/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/lines.h"
#include "base/plots.h"
#include "base/printable.h"
#include "base/shell.h"
#include "base/size.h"
#include "base/units.h"
#include "point/typed_point.h"
#include "thresholds/map.h"

namespace zerotax::thresholds {
namespace {

/// Returns the first failing status of a search, for a search from a file without descriptions of failures.
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
  const std::string doing = first.refilling.refilled.empty() ? words_for(doing_of(first)) : refilling_text(first);
  text += wrap("from the start: " + (first.status == "ok" ? doing + free_words(first.reuse) : first.status), "    ",
               "      ");
  for (const Threshold& threshold : lane.found.thresholds) {
    if (!threshold.exact()) {
      text += wrap(fmt::format("somewhere from {} to {}, hidden by noise, too many changes or unknown behavior",
                               format_count(threshold.after_bytes + 1), format_count(threshold.at_bytes)),
                   "  ", "    ");
    } else {
      text += fmt::format(
          "  {:>15}  {}{}\n", format_count(threshold.at_bytes), format_size(threshold.at_bytes),
          lane.found.is_noisy(threshold) ? "  (noisy: the size behaved differently when probed again)" : "");
    }
    for (const BehaviourChange& change : describe_change(threshold.below, threshold.above))
      text += wrap(change.words, "      ", "        ");
  }
  if (const std::string failure = failure_of(lane); !failure.empty())
    text += wrap("the search failed: " + failure, "    ", "      ");
  if (lane.found.thresholds.empty()) {
    text += fmt::format("    no change found: {}\n",
                        lane.found.grid == 1 ? "only 1 size was probed"
                                             : fmt::format("all {} probed sizes behave alike", lane.found.grid));
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

namespace {

constexpr const char* kRefillShares[] = {"none", "part", "all", "n/a"};

/// Marks of the map in the order of Doing. The mark of needless zeroing is the densest.
std::vector<PlotKind> kinds_of_callocs() {
  return {{"░", ".", words_for(Doing::kNoZerosBack)},
          {"▒", "-", words_for(Doing::kNoZerosKept)},
          {"▓", "=", words_for(Doing::kDirty)},
          {"█", "#", words_for(Doing::kNeedless)},
          {"?", "?", words_for(Doing::kUnknown)}};
}

/// Marks of the map in the order of kRefillShares.
std::vector<PlotKind> kinds_of_rounds() {
  return {{"░", ".", "memory is kept"},
          {"▒", "=", "part of the memory is refilled"},
          {"█", "#", "all memory is refilled"},
          {"?", "?", "not known"}};
}

std::size_t kind_of_rounds(const Signature& signature) {
  const auto* found = std::find(std::begin(kRefillShares), std::end(kRefillShares), signature.refilling.refilled);
  return std::min(static_cast<std::size_t>(found - std::begin(kRefillShares)), std::size(kRefillShares) - 1);
}

PlotStrip strip_of(const MapLane& each, bool rounds) {
  const ThresholdLane& lane = *each.lane;
  PlotStrip strip;
  strip.label = fmt::format("{} touch {:g}{}", rounds ? lane.allocator.name : each.name, lane.touch,
                            lane.thread == "worker" ? " worker" : "");
  for (const Threshold& threshold : lane.found.thresholds) strip.marks.push_back(threshold.at_bytes);
  if (!rounds) {
    for (const auto& [from, to, word] : each.pieces) strip.pieces.push_back({from, to, static_cast<std::size_t>(word)});
    return strip;
  }
  strip.pieces.push_back({lane.from_bytes, lane.to_bytes, kind_of_rounds(lane.found.at_from)});
  for (const Threshold& threshold : lane.found.thresholds) {
    strip.pieces.back().to_bytes = threshold.at_bytes - 1;
    strip.pieces.push_back({threshold.at_bytes, lane.to_bytes, kind_of_rounds(threshold.above)});
  }
  return strip;
}

}  // namespace

std::string word_for(const std::string& allocator, const std::vector<std::string>& words) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](const std::string& word) { return word.substr(0, word.find('=')) == allocator; });
  return found == words.end() ? allocator : *found;
}

std::string both_sides_command(const Thresholds& thresholds, const ThresholdLane& lane, const Threshold& threshold,
                               const std::vector<std::string>& words) {
  std::vector<std::string> command{"zerotax", "run", "--allocator", word_for(lane.allocator.name, words)};
  for (const std::uint64_t size : {threshold.after_bytes, threshold.at_bytes}) {
    command.insert(command.end(), {"--size", fmt::format("{}", size)});
  }
  command.insert(command.end(), {"--touch", fmt::format("{:g}", lane.touch)});
  if (lane.thread == "worker") command.insert(command.end(), {"--thread", "worker"});
  if (!thresholds.is_plain()) command.insert(command.end(), {"--case", thresholds.case_name});
  return shell_text(command);
}

std::string thresholds_plot(const Thresholds& thresholds, const PlotStyle& style) {
  const bool rounds = !thresholds.is_plain();
  const Map map = map_of(thresholds);
  std::vector<PlotStrip> strips;
  for (const MapLane& lane : map.lanes) {
    if (rounds || !lane.like_main) strips.push_back(strip_of(lane, rounds));
  }
  return strip_plot(rounds ? "Memory that is freed together, by size" : "What calloc does, by size",
                    rounds ? "size of each block" : "size asked of calloc", strips,
                    rounds ? kinds_of_rounds() : kinds_of_callocs(), style);
}

std::string next_step(const Thresholds& thresholds, const std::vector<std::string>& words) {
  for (const ThresholdLane& lane : thresholds.lanes) {
    for (const Threshold& threshold : lane.found.thresholds) {
      if (!threshold.exact() || direction_of(describe_change(threshold.below, threshold.above)) != Direction::kWorse)
        continue;
      return both_sides_command(thresholds, lane, threshold, words);
    }
  }
  return "";
}

}  // namespace zerotax::thresholds
