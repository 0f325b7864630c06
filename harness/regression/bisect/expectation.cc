#include "bisect/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "judge/rule.h"
#include "point/metric_named.h"

namespace zerotax::bisect {
namespace {

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const FindingRule* rule : FindingRule::all()) names.emplace_back(rule->name());
  return names;
}

/// A time differs from run to run; what a point counts does not.
bool is_deterministic(const MetricRow& row) {
  return row.kind != MetricKind::kTimeSpread && row.kind != MetricKind::kDuration && row.pass != MetricPass::kZeroing;
}

[[noreturn]] void refuse_name(const std::string& name) {
  std::vector<std::string> names = rule_names();
  for (const MetricRow& row : metric_rows()) {
    if (is_deterministic(row)) names.push_back(dotted_key(row));
  }
  names.insert(names.end(), {"threshold", "thresholds"});
  throw UsageError(fmt::format("--expect: unknown metric '{}'", name),
                   did_you_mean(name, names) +
                       "choose a deterministic metric (zerotax help metrics), thresholds, threshold, or a rule of "
                       "docs/findings.md");
}

/// The metric of a key, a name or "METRIC.CALL"; CALL goes into `call`.
Metric metric_or_call(const std::string& key, std::string& call) {
  if (const auto found = metric_named(key)) return *found;
  const std::size_t dot = key.rfind('.');
  if (dot == std::string::npos) refuse_name(key);
  const auto found = metric_named(key.substr(0, dot));
  if (!found || row_of(*found).kind != MetricKind::kSystemCalls) refuse_name(key);
  call = key.substr(dot + 1);
  return *found;
}

}  // namespace

Expectation Expectation::parse(const std::string& text) {
  const Condition condition = parse_condition(text);
  Expectation expectation;
  expectation.text_ = text;
  expectation.operator_ = condition.comparison;
  expectation.take_subject(condition.subject);
  expectation.take_value(condition.value);
  return expectation;
}

void Expectation::take_subject(const std::string& name) {
  name_ = name;
  if (name == "thresholds" || name == "threshold") {
    subject_ = name == "threshold" ? Subject::kThreshold : Subject::kThresholds;
    return;
  }
  const std::vector<std::string> rules = rule_names();
  if (std::find(rules.begin(), rules.end(), name) != rules.end()) {
    subject_ = Subject::kFinding;
    return;
  }
  constexpr std::string_view kFirst = "first.";
  first_ = name.starts_with(kFirst);
  const std::string key = first_ ? name.substr(kFirst.size()) : name;
  metric_ = metric_or_call(key, call_);
  const MetricRow& row = row_of(metric_);
  if (!is_deterministic(row)) {
    throw UsageError(fmt::format("--expect: {} is not the same each time it is measured", name),
                     "choose a deterministic metric, such as zeroed_bytes or populated_bytes");
  }
  if (first_ && row.in_first_op.rank == 0) {
    throw UsageError(fmt::format("--expect: {} is not measured of the first call alone", key), "leave out 'first.'");
  }
}

void Expectation::take_value(const std::string& value) {
  const MetricRow& row = row_of(metric_);
  if (subject_ == Subject::kMetric && row.kind == MetricKind::kWord) {
    const std::vector<std::string> words = words_of(row);
    if (std::find(words.begin(), words.end(), value) == words.end()) {
      refuse_word(fmt::format("--expect: {} is never '{}'", name_, value), value, words);
    }
    if (!is("==") && !is("!=")) {
      throw UsageError(fmt::format("--expect: {} is a word, which is neither more nor less than another", name_),
                       "choose == or !=");
    }
    word_ = value;
    return;
  }
  number_ = parse_expected(
      value, subject_ == Subject::kThreshold || (subject_ == Subject::kMetric && row.kind == MetricKind::kBytes));
}

}  // namespace zerotax::bisect
