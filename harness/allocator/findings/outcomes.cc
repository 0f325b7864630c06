#include "findings/outcomes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "base/wrap.h"
#include "findings/table.h"
#include "judge/projects.h"
#include "judge/rule.h"

namespace zerotax::findings {
namespace {

using exchange::Benchmark;
using exchange::Outcome;
using exchange::OutcomeKind;
using exchange::OutcomeList;

std::string details_of(const AllocatorFindings& one, const Finding& finding) {
  std::string text = wrap(finding.sentence, "", "");
  for (const EvidencePoint& point : finding.evidence) {
    text += fmt::format("{} {} touch {:g} {}: {}\n", point.case_name, format_size(point.size_bytes), point.touch,
                        point.thread, metrics_text(point.metrics));
  }
  return text + wrap(remedies_sentence(remedies_of(one, finding)), "", "");
}

/// Broken promises, and what does not come to an end, are no matter of cost.
bool is_broken(const Finding& finding) {
  return finding.rule == "unfinished" || finding.rule == "not-zero" || finding.rule == "misaligned";
}

Outcome outcome_of(const AllocatorFindings& one, const Finding& finding) {
  Outcome outcome;
  outcome.suite = one.name() + one.settings();
  outcome.name = finding_id(one.allocator, finding);
  outcome.test = finding.rule;
  outcome.kind = is_broken(finding) ? OutcomeKind::kFailed : OutcomeKind::kWorse;
  outcome.fails = true;
  outcome.verdict = severity_word(finding.severity);
  outcome.headline = finding.title;
  outcome.details = details_of(one, finding);
  return outcome;
}

/// How many findings there are: of an allocator without any, too, so that a service sees them go.
Benchmark counts_of(const AllocatorFindings& one) {
  Benchmark benchmark{one.allocator + one.settings(), {{"findings", static_cast<double>(one.findings.size())}}};
  for (const Severity severity : kSeverities) {
    benchmark.measures.push_back({"findings-" + severity_word(severity), static_cast<double>(one.count(severity))});
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

OutcomeList findings_outcomes(const std::vector<AllocatorFindings>& all, const std::string& run,
                              std::vector<std::string> notes) {
  OutcomeList list;
  list.command = "zerotax findings";
  list.subject = run;
  list.sentence = findings_count(all);
  list.thing = "finding";
  list.notes = std::move(notes);
  for (const AllocatorFindings& one : all) {
    list.benchmarks.push_back(counts_of(one));
    std::set<std::string> rules;
    for (const Finding& finding : one.findings) {
      rules.insert(finding.rule);
      list.outcomes.push_back(outcome_of(one, finding));
      if (list.kind != OutcomeKind::kFailed) list.kind = list.outcomes.back().kind;
    }
    for (const FindingRule* rule : FindingRule::all()) {
      if (rules.contains(rule->name())) continue;
      Outcome passed;
      passed.suite = one.name() + one.settings();
      passed.name = rule->name();
      passed.verdict = "none";
      passed.headline = rule->meaning();
      list.outcomes.push_back(std::move(passed));
    }
  }
  return list;
}

}  // namespace zerotax::findings
