#include "thresholds/plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/shell.h"
#include "base/strip_plot.h"
#include "thresholds/map.h"
#include "thresholds/signature.h"

namespace zerotax::thresholds {
namespace {

constexpr const char* kRefillShares[] = {"none", "part", "all", "n/a"};

/// By Doing: dense where zeros are written for nothing.
std::vector<PlotKind> kinds_of_callocs() {
  const auto words = [](Doing doing) { return doings()[static_cast<std::size_t>(doing)].words; };
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

bool of_lane(const Json& threshold, const Json& lane) {
  return threshold.at("allocator") == lane.at("allocator") && threshold.at("touch") == lane.at("touch") &&
         threshold.at("thread") == lane.at("thread");
}

std::size_t kind_of_callocs(const std::string& word) {
  const auto found =
      std::find_if(doings().begin(), doings().end(), [&](const DoingWords& doing) { return word == doing.key; });
  return found == doings().end() ? static_cast<std::size_t>(Doing::kUnknown)
                                 : static_cast<std::size_t>(found - doings().begin());
}

std::size_t kind_of_rounds(const Json& signature) {
  const std::string share = signature_from_json(signature).refilling.refilled;
  const auto* found = std::find(std::begin(kRefillShares), std::end(kRefillShares), share);
  return std::min(static_cast<std::size_t>(found - std::begin(kRefillShares)), std::size(kRefillShares) - 1);
}

PlotStrip strip_of(const Json& document, const Json& lane) {
  const bool rounds = text_field(document, "case", kPlainCase) != kPlainCase;
  PlotStrip strip;
  strip.label = fmt::format("{} touch {:g}{}", lane.value("name", lane.at("allocator").get<std::string>()),
                            lane.at("touch").get<double>(), lane.at("thread") == "worker" ? " worker" : "");
  const auto last = lane.at("to_bytes").get<std::uint64_t>();
  if (rounds) strip.pieces.push_back({lane.at("from_bytes"), last, kind_of_rounds(lane.at("at_from"))});
  for (const Json& threshold : document.at("thresholds")) {
    if (!of_lane(threshold, lane)) continue;
    const auto at = threshold.at("at_bytes").get<std::uint64_t>();
    strip.marks.push_back(at);
    if (!rounds) continue;
    strip.pieces.back().to_bytes = at - 1;
    strip.pieces.push_back({at, last, kind_of_rounds(threshold.at("above"))});
  }
  if (rounds) return strip;
  for (const Json& piece : lane.at("pieces")) {
    strip.pieces.push_back({piece.at("from_bytes"), piece.at("to_bytes"), kind_of_callocs(piece.at("word"))});
  }
  return strip;
}

}  // namespace

std::string thresholds_plot(const Json& document, const PlotStyle& style) {
  std::vector<PlotStrip> strips;
  for (const Json& lane : document.at("lanes")) {
    if (!lane.value("like_main", false)) strips.push_back(strip_of(document, lane));
  }
  const bool rounds = text_field(document, "case", kPlainCase) != kPlainCase;
  return strip_plot(rounds ? "What becomes of memory that is freed together, by size" : "What calloc does, by size",
                    rounds ? "size of each block" : "size asked of calloc", strips,
                    rounds ? kinds_of_rounds() : kinds_of_callocs(), style);
}

std::string next_step(const Json& document) {
  for (const Json& threshold : document.at("thresholds")) {
    const auto changes = threshold.at("changes").get<std::vector<std::string>>();
    if (!threshold.at("exact").get<bool>() || cost_direction_of(changes) <= 0) continue;
    const auto at = threshold.at("at_bytes").get<std::uint64_t>();
    std::vector<std::string> words{"zerotax",     "run",
                                   "--allocator", threshold.at("allocator"),
                                   "--size",      fmt::format("{}", at - 1),
                                   "--size",      fmt::format("{}", at),
                                   "--touch",     fmt::format("{:g}", threshold.at("touch").get<double>())};
    if (threshold.at("thread") == "worker") words.insert(words.end(), {"--thread", "worker"});
    const std::string case_name = text_field(document, "case", kPlainCase);
    if (case_name != kPlainCase) words.insert(words.end(), {"--case", case_name});
    return shell_text(words);
  }
  return "";
}

}  // namespace zerotax::thresholds
