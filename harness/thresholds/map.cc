#include "thresholds/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/units.h"
#include "core/typed_point.h"

namespace zerotax::thresholds {
namespace {

using LaneKey = std::tuple<std::string, double, std::string>;  ///< allocator, touch, thread

LaneKey key_of(const Json& entry) { return {entry.at("allocator"), entry.at("touch"), entry.at("thread")}; }

/// A change of the first calloc of a process alone is none of the steady state.
bool is_steady(const Json& threshold) {
  const Signature below = signature_from_json(threshold.at("below"));
  const Signature above = signature_from_json(threshold.at("above"));
  return !(below.reuse == above.reuse);
}

/// Not to be relied on: another look saw another behaviour, or it changes to and fro.
bool is_doubtful(const Json& threshold) {
  return threshold.at("noisy").get<bool>() || !threshold.at("exact").get<bool>();
}

/// Neighbours that do the same are one piece.
Json pieces_of(const Json& lane, const std::vector<const Json*>& thresholds) {
  Json pieces = Json::array();
  const auto add = [&](std::uint64_t from, const Json& signature) {
    const char* word = doings()[static_cast<std::size_t>(doing_of(signature_from_json(signature)))].key;
    if (!pieces.empty() && pieces.back().at("word") == word) return;
    if (!pieces.empty()) pieces.back()["to_bytes"] = from - 1;
    pieces.push_back(Json{{"from_bytes", from}, {"to_bytes", lane.at("to_bytes")}, {"word", word}});
  };
  add(lane.at("from_bytes"), lane.at("at_from"));
  for (const Json* threshold : thresholds) add(threshold->at("at_bytes"), threshold->at("above"));
  return pieces;
}

/// What can be seen of a lane: its pieces, and its marks.
Json sight_of(const Json& lane, const std::vector<const Json*>& thresholds) {
  Json sight = Json::array({lane.at("pieces")});
  for (const Json* threshold : thresholds) {
    sight.push_back({threshold->at("at_bytes"), threshold->at("steady"), threshold->at("doubtful")});
  }
  return sight;
}

std::string found_words(const Json& thresholds) {
  const auto exact = std::count_if(thresholds.begin(), thresholds.end(),
                                   [](const Json& threshold) { return threshold.at("exact").get<bool>(); });
  const auto all = static_cast<std::ptrdiff_t>(thresholds.size());
  return exact == all ? ", each found to the byte" : fmt::format(", {} of {} found to the byte", exact, all);
}

/// "What calloc does, by size: 7 allocators change at 19 sizes, each found to the byte".
std::string title_of(const Json& document) {
  std::set<std::string> allocators;
  for (const Json& lane : document.at("lanes")) allocators.insert(lane.at("name"));
  std::set<std::pair<std::string, std::uint64_t>> sizes;
  for (const Json& threshold : document.at("thresholds"))
    sizes.emplace(threshold.at("allocator"), threshold.at("at_bytes"));
  const bool one = allocators.size() == 1;
  const std::string who = one ? *allocators.begin() : format_counted(allocators.size(), "allocator");
  const std::string what = "What calloc does, by size: " + who;
  if (sizes.empty()) return fmt::format("{} never change{}", what, one ? "s" : "");
  return fmt::format("{} change{} at {}{}", what, one ? "s" : "", format_counted(sizes.size(), "size"),
                     found_words(document.at("thresholds")));
}

/// "38 thresholds in 14 searches, each found to the byte."
std::string sentence_of(const Json& document) {
  const std::size_t found = document.at("thresholds").size();
  return fmt::format("{} in {}{}.", found == 0 ? "No thresholds" : format_counted(found, "threshold"),
                     format_counted(document.at("lanes").size(), "search", "searches"),
                     found == 0 ? "" : found_words(document.at("thresholds")));
}

/// How points ended that have no behaviour, in words.
std::set<std::string> endings_of(const Json& document) {
  std::set<std::string> endings;
  const auto add = [&](const Json& signature) {
    const std::string status = signature.at("status");
    if (status != "ok") endings.insert(status == "not_zero" ? "not zero" : status == "timeout" ? "timed out" : status);
  };
  for (const Json& lane : document.at("lanes")) add(lane.at("at_from"));
  for (const Json& threshold : document.at("thresholds")) add(threshold.at("above"));
  return endings;
}

/// What is not to be relied on, and what the map lacks.
Json notes_of(const Json& document) {
  std::set<LaneKey> drawn;
  for (const Json& lane : document.at("lanes")) {
    if (!lane.at("like_main").get<bool>()) drawn.insert(key_of(lane));
  }
  const bool worker =
      std::any_of(drawn.begin(), drawn.end(), [](const LaneKey& key) { return std::get<2>(key) == "worker"; });
  const Json& thresholds = document.at("thresholds");
  const auto doubtful =
      static_cast<std::uint64_t>(std::count_if(thresholds.begin(), thresholds.end(), [&](const Json& threshold) {
        return threshold.at("doubtful").get<bool>() && drawn.contains(key_of(threshold));
      }));
  Json notes = Json::array();
  if (worker) notes.push_back("A worker thread has a bar of its own only where it differs from the main thread.");
  if (doubtful > 0) {
    notes.push_back(
        fmt::format("Dashed: {}: probed again, the size behaved differently, or behaviour changes back and "
                    "forth.",
                    format_counted(doubtful, "unreliable mark")));
  }
  if (const auto endings = endings_of(document); !endings.empty())
    notes.push_back(fmt::format("Not known where a point ended as: {}.", fmt::join(endings, ", ")));
  return notes;
}

}  // namespace

const std::array<DoingWords, 5>& doings() {
  static const std::array<DoingWords, 5> kAll{{{"no_zeros_back", "writes no zeros, gives memory back"},
                                               {"no_zeros_kept", "writes no zeros, keeps memory"},
                                               {"dirty", "zeroes what was dirty"},
                                               {"needless", "zeroes needlessly"},
                                               {"unknown", "not known"}}};
  return kAll;
}

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

void add_map(Json& document) {
  std::map<LaneKey, std::vector<const Json*>> of_lane;
  for (Json& threshold : document.at("thresholds")) {
    threshold["steady"] = is_steady(threshold);
    threshold["doubtful"] = is_doubtful(threshold);
    of_lane[key_of(threshold)].push_back(&threshold);
  }
  for (auto& [key, thresholds] : of_lane) {
    std::sort(thresholds.begin(), thresholds.end(),
              [](const Json* one, const Json* other) { return one->at("at_bytes") < other->at("at_bytes"); });
  }
  std::map<LaneKey, Json> main;
  for (Json& lane : document.at("lanes")) {
    const LaneKey key = key_of(lane);
    lane["name"] = lane.at("allocator").get<std::string>() +
                   settings_words(lane.at("env").get<std::map<std::string, std::string>>());
    lane["pieces"] = pieces_of(lane, of_lane[key]);
    if (lane.at("thread") == "main") main[key] = sight_of(lane, of_lane[key]);
  }
  for (Json& lane : document.at("lanes")) {
    const auto found = main.find({lane.at("allocator"), lane.at("touch"), "main"});
    lane["like_main"] =
        lane.at("thread") != "main" && found != main.end() && found->second == sight_of(lane, of_lane[key_of(lane)]);
  }
  document["words"] = Json::object();
  for (const DoingWords& doing : doings()) document["words"][doing.key] = doing.words;
  document["title"] = title_of(document);
  document["sentence"] = sentence_of(document);
  document["notes"] = notes_of(document);
}

}  // namespace zerotax::thresholds
