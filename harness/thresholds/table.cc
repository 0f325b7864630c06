#include "thresholds/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "core/point_health.h"
#include "thresholds/map.h"

namespace zerotax::thresholds {
namespace {

constexpr const char* kSchema = "zerotax.thresholds/1";

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

Json lane_json(const ThresholdLane& lane, std::uint64_t from, std::uint64_t to) {
  Json json;
  json["allocator"] = lane.allocator.name;
  json["version"] = version_json(lane.allocator);
  json["env"] = allocator_json(lane.allocator)["env"];
  json["touch"] = lane.touch;
  json["thread"] = lane.thread;
  json["from_bytes"] = from;
  json["to_bytes"] = to;
  json["at_from"] = signature_json(lane.found.at_from);
  json["probes"] = lane.found.probes;
  json["grid"] = lane.found.grid;
  json["noisy_bytes"] = lane.found.noisy;
  if (const std::string failure = failure_of(lane); !failure.empty()) json["failure"] = failure;
  if (!lane.host.empty()) json["host"] = lane.host;
  return json;
}

bool is_noisy(const ThresholdSearch& found, const Threshold& threshold) {
  return std::any_of(found.noisy.begin(), found.noisy.end(),
                     [&](std::uint64_t size) { return size >= threshold.after_bytes && size <= threshold.at_bytes; });
}

std::string lane_name(const ThresholdLane& lane) {
  return fmt::format("touch {:g}, {} thread", lane.touch, lane.thread);
}

bool same_findings(const ThresholdLane& one, const ThresholdLane& other) {
  return one.searched == other.searched && failure_of(one) == failure_of(other) &&
         one.found.at_from == other.found.at_from &&
         std::equal(one.found.thresholds.begin(), one.found.thresholds.end(), other.found.thresholds.begin(),
                    other.found.thresholds.end(), [](const Threshold& a, const Threshold& b) {
                      return a.after_bytes == b.after_bytes && a.at_bytes == b.at_bytes && a.below == b.below &&
                             a.above == b.above;
                    });
}

std::string lane_text(const ThresholdLane& lane) {
  if (!lane.searched) return "    not searched: interrupted\n";
  std::string text;
  const Signature& first = lane.found.at_from;
  const std::string doing = !first.refilling.refilled.empty()
                                ? refilling_text(first)
                                : doings()[static_cast<std::size_t>(doing_of(first))].words;
  text += fmt::format("    from the start: {}\n", first.status == "ok" ? doing : first.status);
  for (const Threshold& threshold : lane.found.thresholds) {
    if (!threshold.exact()) {
      text += wrap(fmt::format("somewhere from {} to {}, hidden by noise or too many changes",
                               format_count(threshold.after_bytes + 1), format_count(threshold.at_bytes)),
                   "  ", "    ");
    } else {
      text += fmt::format("  {:>15}  {}{}\n", format_count(threshold.at_bytes), format_size(threshold.at_bytes),
                          is_noisy(lane.found, threshold) ? "  (noisy: probed again, it behaved otherwise)" : "");
    }
    for (const std::string& change : describe_change(threshold.below, threshold.above))
      text += wrap(change, "      ", "        ");
  }
  if (const std::string failure = failure_of(lane); !failure.empty())
    text += wrap("the search failed: " + failure, "    ", "      ");
  if (lane.found.thresholds.empty()) text += "    no change over the whole range\n";
  return text;
}

}  // namespace

std::string failure_of(const ThresholdLane& lane) {
  if (!lane.searched) return "";
  return lane.failure.empty() ? failing_status(lane.found) : lane.failure;
}

Json thresholds_json(const std::vector<ThresholdLane>& lanes, const std::string& case_name, std::uint64_t from,
                     std::uint64_t to, const std::string& started, const Json& environment) {
  Json json;
  json["schema"] = kSchema;
  if (case_name != kPlainCase) json["case"] = case_name;
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["started"] = started;
  json["environment"] = environment;
  json["thresholds"] = Json::array();
  json["lanes"] = Json::array();
  std::size_t probes = 0;
  for (const ThresholdLane& lane : lanes) {
    if (!lane.searched) continue;
    probes += lane.found.probes;
    json["lanes"].push_back(lane_json(lane, from, to));
    for (const Threshold& threshold : lane.found.thresholds) {
      json["thresholds"].push_back({{"allocator", lane.allocator.name},
                                    {"touch", lane.touch},
                                    {"thread", lane.thread},
                                    {"after_bytes", threshold.after_bytes},
                                    {"at_bytes", threshold.at_bytes},
                                    {"exact", threshold.exact()},
                                    {"below", signature_json(threshold.below)},
                                    {"above", signature_json(threshold.above)},
                                    {"changes", describe_change(threshold.below, threshold.above)},
                                    {"noisy", is_noisy(lane.found, threshold)}});
    }
  }
  json["probes"] = probes;
  if (case_name == kPlainCase) add_map(json);
  return json;
}

void take_over(const Json& earlier, ThresholdLane& lane, const std::string& case_name, std::uint64_t from,
               std::uint64_t to, const std::string& file) {
  const std::string remedy = "delete it: it is then searched anew";
  const std::string schema = earlier.is_object() ? text_field(earlier, "schema", "none") : "none";
  if (schema != kSchema) {
    throw UsageError(fmt::format("{} has the schema '{}', not '{}'", file, schema, kSchema), remedy);
  }
  if (text_field(earlier, "case", kPlainCase) != case_name) return;
  const Json wanted = lane_json(lane, from, to);
  const auto same = [&](const Json& entry, std::initializer_list<const char*> keys) {
    return std::all_of(keys.begin(), keys.end(), [&](const char* key) { return entry.at(key) == wanted.at(key); });
  };
  try {
    for (const Json& entry : earlier.at("lanes")) {
      if (!same(entry, {"allocator", "version", "env", "touch", "thread", "from_bytes", "to_bytes"})) continue;
      ThresholdSearch found;
      found.at_from = signature_from_json(entry.at("at_from"));
      found.noisy = entry.at("noisy_bytes").get<std::vector<std::uint64_t>>();
      found.probes = entry.at("probes");
      found.grid = entry.at("grid");
      for (const Json& threshold : earlier.at("thresholds")) {
        if (!same(threshold, {"allocator", "touch", "thread"})) continue;
        found.thresholds.push_back({threshold.at("after_bytes"), threshold.at("at_bytes"),
                                    signature_from_json(threshold.at("below")),
                                    signature_from_json(threshold.at("above"))});
      }
      lane.found = std::move(found);
      lane.failure = text_field(entry, "failure", "");
      lane.host = text_field(entry, "host", "");
      lane.searched = true;
      return;
    }
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{} is damaged ({})", file, error.what()), remedy);
  }
}

std::string thresholds_text(const std::vector<ThresholdLane>& lanes) {
  std::string text;
  std::vector<bool> shown(lanes.size(), false);
  std::string last;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (shown[i]) continue;
    const std::string label = lanes[i].allocator.name + " " + lanes[i].allocator.version;
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
