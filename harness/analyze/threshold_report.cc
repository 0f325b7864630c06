#include "analyze/threshold_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyze/summary.h"
#include "base/size.h"
#include "base/wrap.h"

namespace zerotax {
namespace {

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
  return json;
}

bool is_noisy(const ThresholdSearch& found, std::uint64_t at) {
  return std::any_of(found.noisy.begin(), found.noisy.end(),
                     [&](std::uint64_t size) { return size == at || size + 1 == at; });
}

std::string lane_name(const ThresholdLane& lane) {
  return fmt::format("touch {:g}, {} thread", lane.touch, lane.thread);
}

bool same_findings(const ThresholdLane& one, const ThresholdLane& other) {
  return one.searched == other.searched && one.found.at_from == other.found.at_from &&
         std::equal(one.found.thresholds.begin(), one.found.thresholds.end(), other.found.thresholds.begin(),
                    other.found.thresholds.end(), [](const Threshold& a, const Threshold& b) {
                      return a.at_bytes == b.at_bytes && a.below == b.below && a.above == b.above;
                    });
}

std::string lane_text(const ThresholdLane& lane) {
  if (!lane.searched) return "    not searched: interrupted\n";
  std::string text;
  if (lane.found.at_from.status == "ok") {
    text += fmt::format("    from the start: {}\n", summarise(lane.found.at_from.reuse));
  } else {
    text += fmt::format("    from the start: {}\n", lane.found.at_from.status);
  }
  for (const Threshold& threshold : lane.found.thresholds) {
    text +=
        fmt::format("  {:>15}  {}{}\n", format_count(threshold.at_bytes), format_size(threshold.at_bytes),
                    is_noisy(lane.found, threshold.at_bytes) ? "  (noisy: probed again, it behaved otherwise)" : "");
    for (const std::string& change : describe_change(threshold.below, threshold.above))
      text += wrap(change, "      ", "        ");
  }
  if (lane.found.thresholds.empty()) text += "    no change over the whole range\n";
  return text;
}

}  // namespace

Json thresholds_json(const std::vector<ThresholdLane>& lanes, std::uint64_t from, std::uint64_t to,
                     const std::string& started, const Json& environment) {
  Json json;
  json["schema"] = "zerotax.thresholds/1";
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
                                    {"at_bytes", threshold.at_bytes},
                                    {"below", signature_json(threshold.below)},
                                    {"above", signature_json(threshold.above)},
                                    {"changes", describe_change(threshold.below, threshold.above)},
                                    {"noisy", is_noisy(lane.found, threshold.at_bytes)}});
    }
  }
  json["probes"] = probes;
  return json;
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

}  // namespace zerotax
