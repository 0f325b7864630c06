#include "thresholds/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/fields.h"
#include "judge/document.h"
#include "run/planning.h"

namespace zerotax::thresholds {
namespace {

/// Returns the identity of a lane, without its findings.
ThresholdLane lane_of(const LaneEntry& entry) {
  ThresholdLane lane;
  lane.allocator.name = entry.allocator;
  lane.allocator.version = entry.version.value_or("");
  lane.allocator.env = entry.env;
  lane.touch = entry.touch;
  lane.thread = entry.thread;
  lane.from_bytes = entry.from_bytes;
  lane.to_bytes = entry.to_bytes;
  return lane;
}

bool is_same(const ThresholdLane& one, const ThresholdLane& other) {
  return one.allocator.name == other.allocator.name && one.allocator.version == other.allocator.version &&
         one.allocator.env == other.allocator.env && one.touch == other.touch && one.thread == other.thread &&
         one.from_bytes == other.from_bytes && one.to_bytes == other.to_bytes;
}

/// Reads the findings of a lane from the lane's entry and thresholds.
void read_findings(const LaneEntry& entry, const std::vector<MeasuredThreshold>& thresholds, ThresholdLane& lane) {
  lane.found = {entry.at_from, {}, entry.noisy_bytes, entry.probes, entry.grid};
  for (const MeasuredThreshold& each : thresholds) {
    if (each.allocator != entry.allocator || each.touch != entry.touch || each.thread != entry.thread) continue;
    lane.found.thresholds.push_back({each.after_bytes, each.at_bytes, each.below, each.above});
  }
  lane.failure = entry.failure;
  lane.host = entry.host;
  lane.searched = true;
}

LaneEntry entry_of(const MapLane& map_lane, bool is_plain) {
  const ThresholdLane& lane = *map_lane.lane;
  LaneEntry entry{.allocator = lane.allocator.name,
                  .version = version_json(lane.allocator).get<Measured<std::string>>(),
                  .env = lane.allocator.env,
                  .touch = lane.touch,
                  .thread = lane.thread,
                  .from_bytes = lane.from_bytes,
                  .to_bytes = lane.to_bytes,
                  .at_from = lane.found.at_from,
                  .probes = lane.found.probes,
                  .grid = lane.found.grid,
                  .noisy_bytes = lane.found.noisy,
                  .failure = failure_of(lane),
                  .host = lane.host};
  if (!is_plain) return entry;
  entry.name = map_lane.name;
  entry.pieces = map_lane.pieces;
  entry.like_main = map_lane.like_main;
  return entry;
}

MeasuredThreshold entry_of(const ThresholdLane& lane, const Threshold& threshold, bool is_plain) {
  MeasuredThreshold entry{.allocator = lane.allocator.name,
                          .touch = lane.touch,
                          .thread = lane.thread,
                          .after_bytes = threshold.after_bytes,
                          .at_bytes = threshold.at_bytes,
                          .exact = threshold.exact(),
                          .below = threshold.below,
                          .above = threshold.above,
                          .changes = describe_change(threshold.below, threshold.above),
                          .noisy = lane.found.is_noisy(threshold)};
  if (!is_plain) return entry;
  entry.steady = threshold.is_steady();
  entry.doubtful = lane.found.is_doubtful(threshold);
  return entry;
}

}  // namespace

Json thresholds_json(const Thresholds& thresholds) {
  ThresholdsDocument document;
  static_cast<DocumentHead&>(document) = thresholds;
  const bool is_plain = thresholds.is_plain();
  if (!is_plain) document.case_name = thresholds.case_name;
  document.environments = thresholds.environments;
  const Map map = map_of(thresholds);
  for (const MapLane& each : map.lanes) {
    document.probes += each.lane->found.probes;
    document.lanes.push_back(entry_of(each, is_plain));
    for (const Threshold& threshold : each.lane->found.thresholds) {
      document.thresholds.push_back(entry_of(*each.lane, threshold, is_plain));
    }
  }
  if (is_plain) {
    for (const DoingWords& doing : doings()) document.words[doing.key] = doing.words;
    document.title = map.title;
    document.sentence = map.sentence;
    document.notes = map.notes;
  }
  return document;
}

Thresholds read_thresholds(const Json& json) {
  const auto document = json.get<ThresholdsDocument>();
  Thresholds read{document, document.case_name.empty() ? kPlainCase : document.case_name, document.environments, {}};
  for (const LaneEntry& each : document.lanes) {
    read.lanes.push_back(lane_of(each));
    read_findings(each, document.thresholds, read.lanes.back());
  }
  return read;
}

void take_over(const Json& earlier, ThresholdLane& lane, const std::string& case_name, const std::string& file) {
  const std::string remedy = "delete the file, and the search is repeated";
  const std::string schema = earlier.is_object() ? text_field(earlier, "schema", "none") : "none";
  if (schema != kSchema) {
    throw UsageError(fmt::format("{} has the schema '{}', not '{}'", file, schema, kSchema), remedy);
  }
  if (text_field(earlier, "case", kPlainCase) != case_name) return;
  try {
    for (ThresholdLane& known : read_thresholds(earlier).lanes) {
      if (!is_same(known, lane)) continue;
      known.allocator = lane.allocator;
      lane = std::move(known);
      return;
    }
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{} is damaged ({})", file, error.what()), remedy);
  }
}

Json lanes_json(const Plan& plan, const ThresholdAxes& axes) {
  Plan without_points;
  without_points.timeout_s = plan.timeout_s;
  without_points.allocators = plan.allocators;
  return {{"plan", plan_json(without_points)}, {"axes", axes}};
}

ThresholdSession session_of_job(const Json& json, const std::string& file) {
  auto axes = json.at("axes").get<ThresholdAxes>();
  return {plan_from_json(json.at("plan"), file), std::move(axes)};
}

}  // namespace zerotax::thresholds
