#include <fmt/format.h>

#include <algorithm>

#include "base/shell.h"
#include "base/strip_plot.h"
#include "thresholds/map.h"
#include "thresholds/table.h"

namespace zerotax::thresholds {
namespace {

constexpr const char* kRefillShares[] = {"none", "part", "all", "n/a"};

/// By Doing: dense where zeros are written for nothing.
std::vector<PlotKind> kinds_of_callocs() {
  const auto words = [](Doing doing) { return words_of(doing).words; };
  return {{"░", ".", words(Doing::kNoZerosBack)},
          {"▒", "-", words(Doing::kNoZerosKept)},
          {"▓", "=", words(Doing::kDirty)},
          {"█", "#", words(Doing::kNeedless)},
          {"?", "?", words(Doing::kUnknown)}};
}

/// By kRefillShares.
std::vector<PlotKind> kinds_of_rounds() {
  return {{"░", ".", "memory is kept"},
          {"▒", "=", "part of it is refilled"},
          {"█", "#", "all of it is refilled"},
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

/// The word of --allocator for one of this name: of a library, with its path.
std::string word_for(const std::string& allocator, const std::vector<std::string>& words) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](const std::string& word) { return word.substr(0, word.find('=')) == allocator; });
  return found == words.end() ? allocator : *found;
}

}  // namespace

std::string thresholds_plot(const Thresholds& thresholds, const PlotStyle& style) {
  const bool rounds = !thresholds.is_plain();
  const Map map = map_of(thresholds);
  std::vector<PlotStrip> strips;
  for (const MapLane& lane : map.lanes) {
    if (rounds || !lane.like_main) strips.push_back(strip_of(lane, rounds));
  }
  return strip_plot(rounds ? "What becomes of memory that is freed together, by size" : "What calloc does, by size",
                    rounds ? "size of each block" : "size asked of calloc", strips,
                    rounds ? kinds_of_rounds() : kinds_of_callocs(), style);
}

std::string next_step(const Thresholds& thresholds, const std::vector<std::string>& words) {
  for (const ThresholdLane& lane : thresholds.lanes) {
    for (const Threshold& threshold : lane.found.thresholds) {
      if (!threshold.exact() || direction_of(describe_change(threshold.below, threshold.above)) != Direction::kWorse)
        continue;
      std::vector<std::string> command{"zerotax", "run", "--allocator", word_for(lane.allocator.name, words)};
      for (const std::uint64_t size : {threshold.after_bytes, threshold.at_bytes}) {
        command.insert(command.end(), {"--size", fmt::format("{}", size)});
      }
      command.insert(command.end(), {"--touch", fmt::format("{:g}", lane.touch)});
      if (lane.thread == "worker") command.insert(command.end(), {"--thread", "worker"});
      if (!thresholds.is_plain()) command.insert(command.end(), {"--case", thresholds.case_name});
      return shell_text(command);
    }
  }
  return "";
}

}  // namespace zerotax::thresholds
