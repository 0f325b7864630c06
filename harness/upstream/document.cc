#include "findings/projects.h"
#include "upstream/report.h"
#include "upstream/reproducer.h"

namespace zerotax::upstream {

using findings::finding_json;
using findings::fixed_later;
using findings::knob_json;
using findings::upstream_entries;
using findings::upstream_of;
namespace {

Json finding_with_effects(const ReportData& data) {
  Json json = finding_json(data.subject, data.finding);
  json["knobs"] = Json::array();
  for (const KnobTrial& trial : data.knobs) json["knobs"].push_back(knob_json(trial.env, trial.effect));
  return json;
}

Json causes_json(const ReportData& data) {
  Json causes = Json::array();
  for (const Json& cause : upstream_entries(data.subject.allocator, "causes", data.finding)) {
    causes.push_back({{"words", cause.at("words")}, {"mark", cause.at("mark")}});
  }
  if (causes.empty()) causes.push_back({{"words", hypothesis(data.finding)}, {"mark", "unconfirmed"}});
  return causes;
}

Json duplicates_json(const ReportData& data) {
  Json duplicates = Json::array();
  for (const Json& each : upstream_entries(data.subject.allocator, "duplicates", data.finding)) {
    duplicates.push_back({{"id", each.at("id")}, {"url", each.at("url")}, {"state", each.at("state")}});
  }
  return duplicates;
}

}  // namespace

std::optional<KnownFix> known_fix(const ReportData& data) {
  if (!data.subject.version.is_string()) return std::nullopt;
  for (const Json& duplicate : upstream_entries(data.subject.allocator, "duplicates", data.finding)) {
    if (const auto version = fixed_later(duplicate, data.subject.version)) return KnownFix{duplicate, *version};
  }
  return std::nullopt;
}

Json report_json(const ReportData& data) {
  const Json* upstream = upstream_of(data.subject.allocator);
  const auto fix = known_fix(data);
  Json json;
  json["schema"] = "zerotax.report/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["started"] = data.started;
  json["environment"] = data.environment;
  json["compiler"] = data.compiler;
  json["finding"] = finding_with_effects(data);
  json["size_bytes"] = data.size_bytes;
  json["without_knobs"] = data.without;
  json["project"] = upstream == nullptr ? not_available("nothing is known of its project") : upstream->at("project");
  json["fixed_in"] = fix ? Json(fix->version) : Json(nullptr);
  json["causes"] = causes_json(data);
  json["duplicates"] = duplicates_json(data);
  json["thresholds"] = data.thresholds;
  json["reproducer"] = {{"file", "reproducer.c"},
                        {"how", data.how},
                        {"shown", reproducer_run_json(data.shown)},
                        {"control", reproducer_run_json(data.control)}};
  json["profile"] = data.profile;
  json["points_file"] = "points.jsonl";
  return json;
}

}  // namespace zerotax::upstream
