#include "judge/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "judge/comparison.h"
#include "judge/rule.h"

namespace zerotax {

void to_json(Json& json, const Settings& settings) {
  json = Json::object();
  for (const auto& [key, value] : settings) json[key] = value;
}

void from_json(const Json& json, Settings& settings) {
  for (const auto& [key, value] : json.items()) settings.emplace_back(key, value.get<std::string>());
}

void to_json(Json& json, const NamedMetrics& metrics) {
  json = Json::object();
  for (const NamedMetric& each : metrics) {
    json[each.name] =
        each.value ? std::visit([](auto value) { return Json(value); }, *each.value) : not_available(each.value.why());
  }
}

MeasuredThresholds::MeasuredThresholds(const Json& document) {
  if (document.is_object()) document.at("thresholds").get_to(all);
}

Project read_project(const Json& upstream) { return upstream.get<Project>(); }

KnobEntry knob_entry(const Settings& env, const Measured<NamedMetrics>& effect) {
  return {env, effect, effect ? metrics_text(*effect) : effect.why()};
}

FindingEntry finding_entry(const AllocatorFindings& subject, const Finding& finding) {
  FindingEntry entry{.id = finding_id(subject.allocator, finding),
                     .rule = finding.rule,
                     .meaning = meaning_of(finding),
                     .allocator = subject.allocator,
                     .version = subject.version,
                     .env = subject.env,
                     .severity = finding.severity,
                     .title = finding.title,
                     .sentence = finding.sentence,
                     .sizes = range_text(finding.from_bytes, finding.to_bytes)};
  const ShownIn shown = finding.shown_in.value_or(ShownIn{"time"});
  entry.shown_in.figure = shown.figure;
  if (*shown.column != '\0') entry.shown_in.columns[entry.shown_in.figure + ".f"] = shown.column;
  for (const EvidencePoint& point : finding.evidence) {
    entry.evidence.push_back(
        {point.case_name, point.size_bytes, point.touch, point.thread, point.metrics, metrics_text(point.metrics)});
  }
  for (const ProjectKnob& knob : entries_about(subject.allocator, &Project::knobs, finding)) {
    entry.knobs.push_back(knob_entry(knob.env, NotAvailable{"not tried yet: zerotax report tries it"}));
  }
  entry.remedies = remedies_of(subject, finding);
  entry.remedy = remedies_sentence(entry.remedies);
  return entry;
}

}  // namespace zerotax
