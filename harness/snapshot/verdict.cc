#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/units.h"
#include "snapshot/document.h"

namespace zerotax::snapshot {
namespace {

/// What the figure shows of a result that took a snapshot and was measured beside none; or why it shows nothing.
Json mark_of(const Json& result, std::uint64_t array_bytes) {
  const auto status = result.at("status").get<std::string>();
  if (status != "ok")
    return not_available(fmt::format("{}: {}", status, text_field(result, "reason", "no reason given")));
  if (is_not_available(result.at("checked_elements"))) return not_available("what the others are compared with");
  if (is_not_available(result.at("slowdown"))) return result.at("slowdown");
  const Json& memory = result.at("memory");
  return {{"slowdown", result.at("slowdown")},
          {"memory_share", is_not_available(memory)
                               ? memory
                               : Json(static_cast<double>(added_bytes(result)) / static_cast<double>(array_bytes))},
          {"stopped_ns", result.at("stopped_ns").at("median")}};
}

/// The results of the first allocator: sentence, notes and figure are of these.
std::vector<const Json*> shown(const Json& results) {
  std::vector<const Json*> found;
  for (const Json& result : results) {
    if (result.at("allocator") == results.front().at("allocator")) found.push_back(&result);
  }
  return found;
}

Json sentence_of(const Json& snapshot) {
  std::vector<const Json*> found = shown(snapshot.at("results"));
  std::erase_if(found, [](const Json* result) { return is_not_available(result->at("mark")); });
  if (found.size() < 2) return not_available("fewer than two alternatives were measured beside none");
  const auto [best, worst] = std::minmax_element(found.begin(), found.end(), [](const Json* one, const Json* other) {
    return one->at("slowdown") < other->at("slowdown");
  });
  const auto with = [](const Json& result) { return result.at("alternative").get<std::string>(); };
  return fmt::format("A snapshot of {} under writers: they need {} times as long with {}, {} times with {}.",
                     format_size(snapshot.at("parameters").at("array_bytes")), format_ratio((*best)->at("slowdown")),
                     with(**best), format_ratio((*worst)->at("slowdown")), with(**worst));
}

std::string parameters_words(const Json& parameters) {
  const auto copying = parameters.at("checkpointers").get<std::uint64_t>();
  return fmt::format(
      "{}, {} that {}, batches of {}; {}.", format_counted(parameters.at("writers").get<std::uint64_t>(), "writer"),
      format_counted(copying, "thread"), copying == 1 ? "copies" : "copy", format_size(parameters.at("batch_bytes")),
      parameters.at("repeat") == 1 ? "one run"
                                   : fmt::format("medians of {} runs", parameters.at("repeat").get<std::uint64_t>()));
}

/// The alternatives whose runs contradict each other: the slow ones took more than half as long again as the fast ones,
/// though every run does the same. Empty if there are none.
std::string contradiction_of(const std::vector<const Json*>& results) {
  constexpr double kMostApart = 1.5;
  std::vector<std::string> apart;
  for (const Json* result : results) {
    if (result->at("status") != "ok") continue;
    const Json& wall = result->at("writers_wall_ns");
    const auto fast = wall.at("p05").get<double>();
    const auto slow = wall.at("p95").get<double>();
    if (slow <= fast * kMostApart) continue;
    apart.push_back(
        fmt::format("{} ({} to {})", result->at("alternative").get<std::string>(), format_ns(fast), format_ns(slow)));
  }
  if (apart.empty()) return "";
  return fmt::format(
      "Runs of the same contradict each other: {}. Something else used the machine; measure again on a "
      "quiet one, or with more --rounds.",
      fmt::join(apart, ", "));
}

/// The alternatives of whose faults the kernel's buffers lost some. Empty if none were lost.
std::string loss_of(const std::vector<const Json*>& results) {
  std::vector<std::string> lost;
  for (const Json* result : results) {
    for (const char* run : {"faults", "faults_held"}) {
      if (!result->contains(run) || is_not_available(result->at(run))) continue;
      const Json& faults = result->at(run);
      const auto events = faults.at("lost").get<std::uint64_t>();
      if (events == 0) continue;
      lost.push_back(fmt::format("{}{} ({} lost: {} of {} seen)", result->at("alternative").get<std::string>(),
                                 std::string_view(run) == "faults" ? "" : ", held", format_counted(events, "event"),
                                 format_count(faults.at("traced").get<std::uint64_t>()),
                                 format_counted(faults.at("counted").get<std::uint64_t>(), "fault")));
    }
  }
  return loss_text(lost);
}

Json notes_of(const Json& snapshot) {
  const Json& results = snapshot.at("results");
  Json notes = Json::array();
  notes.push_back(parameters_words(snapshot.at("parameters")) +
                  " Memory and faults are of runs of their own; faults are slower while they are traced.");
  for (const Json* result : shown(results)) {
    if (result->at("status") == "ok") continue;
    notes.push_back(
        fmt::format("{}: {}.", result->at("alternative").get<std::string>(), text_field(result->at("mark"), "na", "")));
  }
  for (const Json* result : shown(results)) {
    if (text_field(*result, "baseline", "none") == "none" || !result->contains("parameters")) continue;
    const Json& own = result->at("parameters");
    notes.push_back(fmt::format("{}: {}, {} that copy; compared with {}.", result->at("alternative").get<std::string>(),
                                format_counted(own.at("writers"), "writer"),
                                format_counted(own.at("checkpointers"), "thread"),
                                result->at("baseline").get<std::string>()));
  }
  if (snapshot.at("contradiction").is_string()) notes.push_back(snapshot.at("contradiction"));
  if (snapshot.at("loss").is_string()) notes.push_back(snapshot.at("loss"));
  std::set<std::string> others;
  for (const Json& result : results) others.insert(result.at("allocator"));
  if (others.size() > 1) {
    const std::string first = results.front().at("allocator");
    others.erase(first);
    notes.push_back(fmt::format("Of {}; measured also: {}.", first, fmt::join(others, ", ")));
  }
  return notes;
}

}  // namespace

std::string loss_text(const std::vector<std::string>& lost) {
  if (lost.empty()) return "";
  return fmt::format(
      "Counts of faults are too low, because events came faster than they could be read: {}. Measure a "
      "smaller array, or with fewer threads.",
      fmt::join(lost, ", "));
}

void add_verdict(Json& snapshot) {
  const std::uint64_t array_bytes = snapshot.at("parameters").at("array_bytes");
  for (Json& result : snapshot.at("results")) {
    result["mark"] = mark_of(result, array_bytes);
    result["remedy"] = remedy_json(snapshot, result);
  }
  snapshot["advice"] = advice_json(snapshot);
  snapshot["sentence"] = sentence_of(snapshot);
  const std::string contradiction = contradiction_of(shown(snapshot.at("results")));
  snapshot["contradiction"] = contradiction.empty() ? Json() : Json(contradiction);
  const std::string loss = loss_of(shown(snapshot.at("results")));
  snapshot["loss"] = loss.empty() ? Json() : Json(loss);
  snapshot["notes"] = notes_of(snapshot);
}

}  // namespace zerotax::snapshot
