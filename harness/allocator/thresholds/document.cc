#include "thresholds/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/fields.h"
#include "judge/document.h"
#include "run/planning.h"

namespace zerotax::thresholds {
namespace {

/// The identity of a lane, without what was found in it.
ThresholdLane lane_of(const Json& json) {
  ThresholdLane lane;
  lane.allocator.name = json.at("allocator");
  const Json& version = json.at("version");
  if (!is_not_available(version)) lane.allocator.version = version;
  lane.allocator.env = json.at("env").get<std::map<std::string, std::string>>();
  lane.touch = json.at("touch");
  lane.thread = json.at("thread");
  lane.from_bytes = json.at("from_bytes");
  lane.to_bytes = json.at("to_bytes");
  return lane;
}

bool is_same(const ThresholdLane& one, const ThresholdLane& other) {
  return one.allocator.name == other.allocator.name && one.allocator.version == other.allocator.version &&
         one.allocator.env == other.allocator.env && one.touch == other.touch && one.thread == other.thread &&
         one.from_bytes == other.from_bytes && one.to_bytes == other.to_bytes;
}

/// What was found in it: of its own entry, and of those of thresholds.
void read_findings(const Json& json, const Json& thresholds, ThresholdLane& lane) {
  ThresholdSearch& found = lane.found;
  json.at("at_from").get_to(found.at_from);
  json.at("noisy_bytes").get_to(found.noisy);
  json.at("probes").get_to(found.probes);
  json.at("grid").get_to(found.grid);
  for (const Json& each : thresholds) {
    if (each.at("allocator") != lane.allocator.name || each.at("touch") != lane.touch ||
        each.at("thread") != lane.thread)
      continue;
    found.thresholds.push_back({each.at("after_bytes"), each.at("at_bytes"), each.at("below").get<Signature>(),
                                each.at("above").get<Signature>()});
  }
  lane.failure = text_field(json, "failure", "");
  lane.host = text_field(json, "host", "");
  lane.searched = true;
}

Json lane_json(const ThresholdLane& lane) {
  Json json{{"allocator", lane.allocator.name},
            {"version", version_json(lane.allocator)},
            {"env", allocator_json(lane.allocator)["env"]},
            {"touch", lane.touch},
            {"thread", lane.thread},
            {"from_bytes", lane.from_bytes},
            {"to_bytes", lane.to_bytes},
            {"at_from", lane.found.at_from},
            {"probes", lane.found.probes},
            {"grid", lane.found.grid},
            {"noisy_bytes", lane.found.noisy}};
  if (const std::string failure = failure_of(lane); !failure.empty()) json["failure"] = failure;
  if (!lane.host.empty()) json["host"] = lane.host;
  return json;
}

Json threshold_json(const ThresholdLane& lane, const Threshold& threshold) {
  return {{"allocator", lane.allocator.name},
          {"touch", lane.touch},
          {"thread", lane.thread},
          {"after_bytes", threshold.after_bytes},
          {"at_bytes", threshold.at_bytes},
          {"exact", threshold.exact()},
          {"below", threshold.below},
          {"above", threshold.above},
          {"changes", describe_change(threshold.below, threshold.above)},
          {"noisy", lane.found.is_noisy(threshold)}};
}

}  // namespace

ZEROTAX_FIELDS(ThresholdAxes, from, to, per_octave, touches, threads, case_name)
NLOHMANN_JSON_SERIALIZE_ENUM(Doing, {{Doing::kUnknown, words_of(Doing::kUnknown).key},
                                     {Doing::kNoZerosBack, words_of(Doing::kNoZerosBack).key},
                                     {Doing::kNoZerosKept, words_of(Doing::kNoZerosKept).key},
                                     {Doing::kDirty, words_of(Doing::kDirty).key},
                                     {Doing::kNeedless, words_of(Doing::kNeedless).key}})
ZEROTAX_FIELDS(Piece, from_bytes, to_bytes, word)

Json thresholds_json(const Thresholds& thresholds) {
  Json json{{"schema", thresholds.schema}};
  if (!thresholds.is_plain()) json["case"] = thresholds.case_name;
  json["zerotax_version"] = thresholds.zerotax_version;
  json["started"] = thresholds.started;
  json["environment"] = thresholds.environment;
  json["thresholds"] = Json::array();
  json["lanes"] = Json::array();
  const Map map = map_of(thresholds);
  std::size_t probes = 0;
  for (const MapLane& each : map.lanes) {
    const ThresholdSearch& found = each.lane->found;
    probes += found.probes;
    Json& lane = json["lanes"].emplace_back(lane_json(*each.lane));
    for (const Threshold& threshold : found.thresholds) {
      Json& entry = json["thresholds"].emplace_back(threshold_json(*each.lane, threshold));
      if (!thresholds.is_plain()) continue;
      entry["steady"] = threshold.is_steady();
      entry["doubtful"] = found.is_doubtful(threshold);
    }
    if (!thresholds.is_plain()) continue;
    lane["name"] = each.name;
    lane["pieces"] = each.pieces;
    lane["like_main"] = each.like_main;
  }
  json["probes"] = probes;
  if (thresholds.is_plain()) {
    for (const DoingWords& doing : doings()) json["words"][doing.key] = doing.words;
    json["title"] = map.title;
    json["sentence"] = map.sentence;
    json["notes"] = map.notes;
  }
  if (thresholds.environments.is_object()) json["environments"] = thresholds.environments;
  return json;
}

Thresholds read_thresholds(const Json& json) {
  Thresholds read{{json.at("schema"), json.at("zerotax_version"), json.at("started"), {}, json.at("environment")},
                  text_field(json, "case", kPlainCase),
                  json.value("environments", Json()),
                  {}};
  for (const Json& each : json.at("lanes")) {
    read.lanes.push_back(lane_of(each));
    read_findings(each, json.at("thresholds"), read.lanes.back());
  }
  return read;
}

void take_over(const Json& earlier, ThresholdLane& lane, const std::string& case_name, const std::string& file) {
  const std::string remedy = "delete it, and it is searched again";
  const std::string schema = earlier.is_object() ? text_field(earlier, "schema", "none") : "none";
  if (schema != kSchema) {
    throw UsageError(fmt::format("{} has the schema '{}', not '{}'", file, schema, kSchema), remedy);
  }
  if (text_field(earlier, "case", kPlainCase) != case_name) return;
  try {
    for (const Json& entry : earlier.at("lanes")) {
      ThresholdLane known = lane_of(entry);
      if (!is_same(known, lane)) continue;
      read_findings(entry, earlier.at("thresholds"), known);
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
