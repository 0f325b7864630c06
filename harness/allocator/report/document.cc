#include "judge/document.h"

#include <fmt/format.h>

#include "base/fields.h"
#include "profile/result.h"
#include "report/report.h"
#include "report/reproducer.h"

namespace zerotax::report {

ZEROTAX_FIELDS_READ(ReportThreshold, after_bytes, at_bytes, exact, noisy, changes)
ZEROTAX_FIELDS_WRITTEN(ReproducerRun, allocator, version, preload, env, exit_status, output)
namespace {

template <typename T>
NamedMetric named(const char* name, const Measured<T>& value) {
  if (!value) return {name, NotAvailable{value.why()}};
  return {name, {*value}};
}

NamedMetrics metrics_of(const KnobEffect& effect) {
  NamedMetrics metrics{named("redundant_zeroed_bytes", effect.redundant_zeroed_bytes),
                       named("calloc_faults", effect.calloc_faults), named("operation_faults", effect.operation_faults),
                       named("operation_ns", effect.operation_ns)};
  if (effect.avoids) metrics.push_back({"avoids", {*effect.avoids}});
  return metrics;
}

Measured<NamedMetrics> metrics_of(const Measured<KnobEffect>& effect) {
  if (!effect) return NotAvailable{effect.why()};
  return metrics_of(*effect);
}

Json finding_with_effects(const ReportData& data) {
  Json json = finding_json(data.subject, data.finding);
  json["knobs"] = Json::array();
  for (const KnobTrial& trial : data.knobs) {
    json["knobs"].push_back(knob_json(trial.knob.env, metrics_of(trial.effect)));
  }
  return json;
}

Json causes_json(const ReportData& data) {
  Json causes = Json::array();
  for (const auto& cause : causes_of(data)) causes.push_back({{"words", cause.words}, {"mark", cause.mark}});
  return causes;
}

Json duplicates_json(const ReportData& data) {
  Json duplicates = Json::array();
  for (const auto& each : entries_about(data.subject.allocator, &Project::duplicates, data.finding)) {
    duplicates.push_back({{"id", each.id}, {"url", each.url}, {"state", each.state}});
  }
  return duplicates;
}

Json profile_json(const Measured<ReportProfile>& found) {
  if (!found) return not_available(found.why());
  return {{"samples", found->samples}, {"categories", Json(found->categories)}};
}

}  // namespace

std::vector<ReportThreshold> read_thresholds(const Json& document) {
  std::vector<ReportThreshold> thresholds;
  for (const Json& each : document.at("thresholds")) {
    thresholds.push_back(each.get<ReportThreshold>());
    thresholds.back().whole = each;
  }
  return thresholds;
}

Json report_json(const ReportData& data) {
  const Project* project = project_of(data.subject.allocator);
  const auto fix = known_fix(data);
  Json json;
  json["schema"] = "zerotax.report/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["started"] = data.started;
  json["environment"] = data.environment;
  json["compiler"] = data.compiler;
  json["finding"] = finding_with_effects(data);
  json["size_bytes"] = data.size_bytes;
  json["without_knobs"] = data.without ? metrics_json(metrics_of(*data.without)) : not_available(data.without.why());
  json["project"] = project == nullptr ? not_available("nothing is known of its project") : Json(project->project);
  json["fixed_in"] = fix ? Json(fix->version) : Json(nullptr);
  json["causes"] = causes_json(data);
  json["duplicates"] = duplicates_json(data);
  json["thresholds"] = Json::array();
  for (const ReportThreshold& each : data.thresholds) json["thresholds"].push_back(each.whole);
  json["reproducer"] = {{"file", "reproducer.c"}, {"how", data.how}, {"shown", data.shown}, {"control", data.control}};
  json["profile"] = profile_json(data.profile);
  json["points_file"] = "points.jsonl";
  return json;
}

}  // namespace zerotax::report
