#include "findings/outcomes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/wrap.h"
#include "findings/rule.h"
#include "findings/tax.h"

namespace zerotax::findings {
namespace {

using exchange::Benchmark;
using exchange::Outcome;
using exchange::OutcomeKind;
using exchange::OutcomeList;

/// "mimalloc 2.0.9 KEY=VALUE".
std::string suite_of(const AllocatorFindings& one) {
  std::string suite = one.allocator;
  if (one.version.is_string()) suite += " " + one.version.get<std::string>();
  return one.env.empty() ? suite : suite + " " + env_words(one.env);
}

std::string details_of(const Json& finding) {
  std::string text = wrap(finding.at("sentence").get<std::string>(), "", "");
  for (const Json& place : finding.at("evidence")) {
    text += fmt::format("{} {} touch {:g} {}: {}\n", place.at("case").get<std::string>(),
                        format_size(place.at("size_bytes")), place.at("touch").get<double>(),
                        place.at("thread").get<std::string>(), place.at("text").get<std::string>());
  }
  text += wrap(finding.at("remedy").get<std::string>(), "", "");
  return text;
}

Outcome outcome_of(const std::string& suite, const Json& finding) {
  Outcome outcome;
  outcome.suite = suite;
  outcome.name = finding.at("id");
  // Broken promises, and what does not come to an end, are no matter of cost.
  const auto rule = finding.at("rule").get<std::string>();
  const bool broken = rule == "unfinished" || rule == "not-zero" || rule == "misaligned";
  outcome.kind = broken ? OutcomeKind::kFailed : OutcomeKind::kWorse;
  outcome.fails = true;
  outcome.verdict = finding.at("severity");
  outcome.headline = finding.at("title");
  outcome.details = details_of(finding);
  return outcome;
}

/// How many findings there are: of an allocator without any, too, so that a service sees them go.
Benchmark counts_of(const AllocatorFindings& one) {
  std::string name = one.env.empty() ? one.allocator : one.allocator + " " + env_words(one.env);
  Benchmark benchmark{std::move(name), {{"findings", static_cast<double>(one.findings.size())}}};
  for (const Severity severity : {Severity::kHigh, Severity::kMedium, Severity::kLow}) {
    const auto count = std::count_if(one.findings.begin(), one.findings.end(),
                                     [&](const Finding& each) { return each.severity == severity; });
    benchmark.measures.push_back({"findings-" + severity_word(severity), static_cast<double>(count)});
  }
  return benchmark;
}

}  // namespace

std::vector<std::string> findings_notes(const std::vector<Point>& points) {
  const auto without =
      std::count_if(points.begin(), points.end(), [](const Point& point) { return !has_result(point); });
  if (without == 0) return {};
  return {fmt::format("{} of {} points have no result and were left out.", without, points.size())};
}

OutcomeList findings_outcomes(const std::vector<AllocatorFindings>& all, const Json& document,
                              std::vector<std::string> notes) {
  OutcomeList list;
  list.command = "zerotax findings";
  list.subject = document.at("run");
  list.sentence = findings_count(document);
  list.thing = "finding";
  list.notes = std::move(notes);
  for (const AllocatorFindings& one : all) {
    const std::string suite = suite_of(one);
    list.benchmarks.push_back(counts_of(one));
    for (const Finding& finding : one.findings) {
      list.outcomes.push_back(outcome_of(suite, finding_json(one, finding)));
    }
    for (const FindingRule* rule : FindingRule::all()) {
      if (std::any_of(one.findings.begin(), one.findings.end(),
                      [&](const Finding& each) { return each.rule == rule->name(); })) {
        continue;
      }
      Outcome passed;
      passed.suite = suite;
      passed.name = rule->name();
      passed.verdict = "none";
      passed.headline = rule->meaning();
      list.outcomes.push_back(std::move(passed));
    }
  }
  const bool broken = std::any_of(list.outcomes.begin(), list.outcomes.end(),
                                  [](const Outcome& each) { return each.kind == OutcomeKind::kFailed; });
  if (!document.at("findings").empty()) list.kind = broken ? OutcomeKind::kFailed : OutcomeKind::kWorse;
  return list;
}

}  // namespace zerotax::findings
