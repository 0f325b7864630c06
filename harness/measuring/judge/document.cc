#include "judge/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/fields.h"
#include "judge/comparison.h"
#include "judge/rule.h"

namespace zerotax {

ZEROTAX_FIELDS_READ(MeasuredThreshold, allocator, touch, thread, after_bytes, at_bytes, exact, noisy)
ZEROTAX_FIELDS_READ(ProjectKnob, env, findings, words, mark, since, from_bytes, below_bytes)
ZEROTAX_FIELDS_READ(ProjectEntry, findings, words, mark, from_bytes, below_bytes)
ZEROTAX_FIELDS_READ(ProjectIssue, id, url, findings, state, fixed_in, words, mark, from_bytes, below_bytes)
ZEROTAX_FIELDS_READ(Diagnostics, env, words)
ZEROTAX_FIELDS_READ(Project, name, project, tracker, form, component, deliberate, diagnostics, knobs, causes,
                    duplicates, debian)
ZEROTAX_FIELDS_WRITTEN(KnownRemedy, kind, version, id, url, env, line, confirmed, text, in_part)
namespace {

Json shown_in_json(const ShownIn& shown) {
  Json columns = Json::object();
  if (*shown.column != '\0') columns[std::string(shown.figure) + ".f"] = shown.column;
  return {{"figure", shown.figure}, {"columns", columns}};
}

Json evidence_json(const std::vector<EvidencePoint>& evidence) {
  Json json = Json::array();
  for (const EvidencePoint& point : evidence) {
    json.push_back({{"case", point.case_name},
                    {"size_bytes", point.size_bytes},
                    {"touch", point.touch},
                    {"thread", point.thread},
                    {"figures", metrics_json(point.metrics)},
                    {"text", metrics_text(point.metrics)}});
  }
  return json;
}

}  // namespace

void to_json(Json& json, const Settings& settings) {
  json = Json::object();
  for (const auto& [key, value] : settings) json[key] = value;
}

void from_json(const Json& json, Settings& settings) {
  for (const auto& [key, value] : json.items()) settings.emplace_back(key, value.get<std::string>());
}

MeasuredThresholds::MeasuredThresholds(const Json& document) {
  if (document.is_object()) document.at("thresholds").get_to(all);
}

void from_json(const Json& json, Range& value) {
  value = {json.at("low"), json.at("high")};
  if (value.high < value.low) {
    throw std::invalid_argument(fmt::format(": the high end {} is below the low one {}", value.high, value.low));
  }
}

Project read_project(const Json& upstream) { return upstream.get<Project>(); }

Json metrics_json(const NamedMetrics& metrics) {
  Json json = Json::object();
  for (const NamedMetric& each : metrics) {
    json[each.name] =
        each.value ? std::visit([](auto value) { return Json(value); }, *each.value) : not_available(each.value.why());
  }
  return json;
}

Json knob_json(const Settings& env, const Measured<NamedMetrics>& effect) {
  return {{"env", env},
          {"effect", effect ? metrics_json(*effect) : not_available(effect.why())},
          {"text", effect ? metrics_text(*effect) : effect.why()}};
}

Json finding_json(const AllocatorFindings& subject, const Finding& finding) {
  const KnownRemedies remedies = remedies_of(subject, finding);
  Json json;
  json["id"] = finding_id(subject.allocator, finding);
  json["rule"] = finding.rule;
  json["meaning"] = meaning_of(finding);
  json["allocator"] = subject.allocator;
  json["version"] = subject.version;
  json["env"] = subject.env;
  json["severity"] = severity_word(finding.severity);
  json["title"] = finding.title;
  json["sentence"] = finding.sentence;
  json["sizes"] = range_text(finding.from_bytes, finding.to_bytes);
  json["shown_in"] = shown_in_json(finding.shown_in.value_or(ShownIn{"time"}));
  json["evidence"] = evidence_json(finding.evidence);
  json["knobs"] = Json::array();
  for (const ProjectKnob& knob : entries_about(subject.allocator, &Project::knobs, finding)) {
    json["knobs"].push_back(knob_json(knob.env, NotAvailable{"not tried yet: zerotax report tries it"}));
  }
  json["remedies"] = remedies;
  json["remedy"] = remedies_sentence(remedies);
  return json;
}

NLOHMANN_JSON_SERIALIZE_ENUM(RedundantKind, {{RedundantKind::kFresh, "fresh"}, {RedundantKind::kReuse, "reuse"}})

void to_json(Json& json, Answer answer) {
  json = answer == Answer::kUnknown ? "unknown" : answer == Answer::kYes ? "yes" : "no";
}

void to_json(Json& json, const RedundantCalls& calls) {
  json = {{"kind", calls.kind},
          {"ops", calls.ops},
          {"of_ops", calls.of_ops},
          {"redundant_bytes", calls.redundant_bytes},
          {"calloc_ns", Measured<double>(calls.calloc_ns, "the timing pass saw no such call")}};
}

ZEROTAX_FIELDS_WRITTEN(SizeSpan, from, to)
ZEROTAX_FIELDS(Refilling, refilled, returned_by)

void to_json(Json& json, const Behaviour& behaviour) {
  json = {{"home", behaviour.home},
          {"zeroed", behaviour.zeroed},
          {"redundant", behaviour.redundant},
          {"populated", behaviour.populated},
          {"calloc_syscalls", behaviour.calloc_syscalls},
          {"free_syscalls", behaviour.free_syscalls}};
  // An earlier version did not look.
  if (!behaviour.in_free.zeroed.empty()) json["zeroed_in_free"] = behaviour.in_free.zeroed;
  if (!behaviour.in_free.redundant.empty()) json["redundant_in_free"] = behaviour.in_free.redundant;
}

void from_json(const Json& json, Behaviour& behaviour) {
  behaviour = {json.at("home"),
               json.at("zeroed"),
               json.at("redundant"),
               json.at("populated"),
               json.at("calloc_syscalls"),
               json.at("free_syscalls"),
               {text_field(json, "zeroed_in_free", ""), text_field(json, "redundant_in_free", "")}};
}

void to_json(Json& json, const Signature& signature) {
  json = {{"status", signature.status}};
  if (!signature.refilling.refilled.empty()) {
    json["refilling"] = signature.refilling;
  } else if (signature.status == "ok") {
    json["fresh"] = signature.fresh;
    json["reuse"] = signature.reuse;
  }
}

void from_json(const Json& json, Signature& signature) {
  signature = {json.at("status"), {}, {}, {}};
  if (signature.status != "ok") return;
  if (json.contains("refilling")) {
    json.at("refilling").get_to(signature.refilling);
  } else {
    json.at("fresh").get_to(signature.fresh);
    json.at("reuse").get_to(signature.reuse);
  }
}

}  // namespace zerotax
