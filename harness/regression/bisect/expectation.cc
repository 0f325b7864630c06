#include "bisect/expectation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/names.h"
#include "base/nearest.h"
#include "base/size.h"
#include "base/units.h"
#include "baseline/measurer.h"
#include "bisect/versions.h"
#include "judge/document.h"
#include "judge/rule.h"
#include "os/stop.h"
#include "point/metrics.h"
#include "prove/run.h"

namespace zerotax::bisect {
namespace {

/// The expectation that no promise is broken.
constexpr const char* kPromises = "prove";

// Longer signs come first, because "<=" begins with "<".
constexpr Comparison kComparisons[] = {{"==", [](double one, double other) { return one == other; }},
                                       {"!=", [](double one, double other) { return one != other; }},
                                       {"<=", [](double one, double other) { return one <= other; }},
                                       {">=", [](double one, double other) { return one >= other; }},
                                       {"<", [](double one, double other) { return one < other; }},
                                       {">", [](double one, double other) { return one > other; }}};

std::string without_blanks(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const FindingRule* rule : FindingRule::all()) names.emplace_back(rule->name());
  return names;
}

/// Returns whether a metric is the same in each run, which is true of counts but not of times.
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

/// Returns the metric of a key, a display name or "METRIC.CALL"; CALL is stored in `call`.
Metric metric_or_call(const std::string& key, std::string& call) {
  if (const auto found = metric_named(key)) return *found;
  const std::size_t dot = key.rfind('.');
  if (dot == std::string::npos) refuse_name(key);
  const auto found = metric_named(key.substr(0, dot));
  if (!found || row_of(*found).kind != MetricKind::kSystemCalls) refuse_name(key);
  call = key.substr(dot + 1);
  return *found;
}

constexpr PointTime kObservedTime{ClockMode::kStopped, 0};

PointSpec spec_of(const Place& place) {
  return {0, place.case_name, place.size_bytes, place.touch, place.thread, baseline::kBaselineRepeats, kObservedTime};
}

Observed unknown(const std::string& why) { return {false, false, why}; }

std::string number_text(const MetricRow& row, double number) {
  if (row.kind == MetricKind::kRatio) return format_ratio(number);
  return format_count(static_cast<std::uint64_t>(std::llround(number)));
}

std::uint64_t all_calls(const SystemCalls& calls) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : calls) sum += count;
  return sum;
}

namespace runs = record::runs;

/// Returns the metric of a key or a display name.
std::optional<runs::Metric> metric_of(const std::string& word) {
  const std::string key = key_of_name(word);
  for (const runs::MetricRow& row : runs::metric_rows()) {
    if (key == row.key || key == key_of_name(row.name)) return row.metric;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_metric(const std::string& word) {
  std::vector<std::string> keys;
  for (const runs::MetricRow& row : runs::metric_rows()) keys.emplace_back(row.key);
  throw UsageError(fmt::format("--expect: unknown metric '{}'", word),
                   did_you_mean(word, keys) + "choose a metric of zerotax help metrics, as in 'page faults <= 2000'");
}

runs::SiteNumber number_named(const std::string& word) {
  const std::string key = key_of_name(word);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < runs::kSiteNumbers; ++i) {
    const auto number = static_cast<runs::SiteNumber>(i);
    if (key == key_of(number)) return number;
    keys.emplace_back(key_of(number));
  }
  refuse_word(fmt::format("--expect: '{}' is not counted for a function", word), word, keys);
}

/// Returns the metric and the process name of a subject such as "peak resident memory of cc1". The name of a metric may
/// itself contain " of ".
std::pair<std::optional<runs::Metric>, std::string> metric_of_processes(const std::string& subject) {
  if (const auto whole = metric_of(subject)) return {whole, ""};
  for (std::size_t at = subject.find(" of "); at != std::string::npos; at = subject.find(" of ", at + 1)) {
    if (const auto metric = metric_of(subject.substr(0, at))) return {metric, subject.substr(at + 4)};
  }
  return {};
}

}  // namespace

Condition parse_condition(const std::string& text) {
  const std::size_t at = text.find_first_of("=!<>");
  if (at == std::string::npos) throw UsageError(fmt::format("invalid --expect '{}'", text), kExpectForm);
  const std::string rest = text.substr(at);
  const Comparison* found = std::find_if(std::begin(kComparisons), std::end(kComparisons),
                                         [&](const Comparison& each) { return rest.starts_with(each.sign); });
  if (found == std::end(kComparisons)) {
    throw UsageError(fmt::format("invalid --expect '{}'", text), "choose one of == != < <= > >=");
  }
  return {without_blanks(text.substr(0, at)), found, without_blanks(rest.substr(found->sign.size()))};
}

double parse_expected(const std::string& value, bool of_bytes) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (!value.empty() && error == std::errc() && end == value.data() + value.size() && std::isfinite(number)) {
    return number;
  }
  if (!of_bytes || value.empty()) throw UsageError(fmt::format("--expect: '{}' is not a number", value), kExpectForm);
  return static_cast<double>(parse_size(value));
}

Expectation Expectation::parse(const std::string& text) {
  if (without_blanks(text) == kPromises) {
    Expectation promises;
    promises.text_ = promises.name_ = kPromises;
    promises.subject_ = Subject::kPromises;
    return promises;
  }
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
    throw UsageError(fmt::format("--expect: {} is not measured separately for the first call", key),
                     "leave out 'first.'");
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
      throw UsageError(fmt::format("--expect: {} is a word, and words have no order", name_), "choose == or !=");
    }
    word_ = value;
    return;
  }
  number_ = parse_expected(
      value, subject_ == Subject::kThreshold || (subject_ == Subject::kMetric && row.kind == MetricKind::kBytes));
}

Observed Expectation::observe_metric(const Allocator& allocator, const Place& place) const {
  const bool by_audit = row_of(metric_).pass == MetricPass::kAudit;
  const Point point = by_audit ? audited(allocator, spec_of(place), place.timeout_s)
                               : measured_in_all_passes(allocator, spec_of(place), place.timeout_s);
  if (!has_result(point)) return unknown(fmt::format("{}: {}", word_of(point.status), point.reason.value_or("")));
  if (first_ && point.first() == nullptr) return unknown("the first call was not measured");
  const MetricValues& values = first_ ? static_cast<const MetricValues&>(*point.first()) : point;
  const MetricRow& row = row_of(metric_);
  if (!values.is_measured(metric_)) {
    const std::string why = values.why_not(metric_);
    return unknown(fmt::format("{} is n/a: {}", name_, why.empty() ? "this case does not measure the metric" : why));
  }
  if (row.kind == MetricKind::kWord) {
    const std::string word = *values.word(metric_);
    return {true, (word == word_) == is("=="), fmt::format("{} is {}", name_, word)};
  }
  double number = 0;
  if (row.kind == MetricKind::kSystemCalls) {
    number = static_cast<double>(call_.empty() ? all_calls(*values.calls(metric_))
                                               : values.calls(metric_, call_).value_or(0));
  } else {
    number = values.number(metric_).value_or(0);
  }
  const char* bound = values.is_upper_bound(metric_) ? "at most " : "";
  return {true, compare(number), fmt::format("{} is {}{}", name_, bound, number_text(row, number))};
}

Observed Expectation::observe_thresholds(const Allocator& allocator, const Place& place) const {
  // Measures one small point as well, because a grid needs at least one point.
  const Measurement measured =
      measure(allocator, {{std::uint64_t{64} << 10}, true, place.last_bytes, place.timeout_s}, [] {});
  std::vector<std::string> sizes;
  bool any = false;
  for (const baseline::BaselineThreshold& threshold : *measured.baseline.thresholds) {
    const auto at = static_cast<double>(threshold.at_bytes);
    any = any || (is("!=") ? at == number_ : compare(at));
    sizes.push_back(format_count(threshold.at_bytes));
  }
  const std::string list = sizes.empty() ? "none" : fmt::format("at {}", fmt::join(sizes, "; "));
  if (subject_ == Subject::kThresholds) {
    return {true, compare(static_cast<double>(sizes.size())), fmt::format("thresholds is {} ({})", sizes.size(), list)};
  }
  return {true, any != is("!="), fmt::format("thresholds: {}", list)};
}

Observed Expectation::observe_finding(const Allocator& allocator, const Place& place) const {
  const std::vector<Point> points = audited_for_rules(allocator, place.case_name, place.size_bytes, place.timeout_s);
  for (const Point& point : points) {
    if (!has_result(point)) return unknown(fmt::format("{}: {}", word_of(point.status), point.reason.value_or("")));
  }
  std::uint64_t count = 0;
  std::string titles;
  for (const AllocatorFindings& all : find_findings(points, Json())) {
    for (const Finding& finding : all.findings) {
      if (finding.rule != name_) continue;
      ++count;
      titles += ": " + finding.title;
    }
  }
  return {true, compare(static_cast<double>(count)), fmt::format("{} is {}{}", name_, count, titles)};
}

Observed Expectation::observe_promises(const Allocator& allocator) {
  try {
    const std::vector<Allocator> allocators = prove::with_libraries({allocator});
    const prove::Proof proof =
        prove::prove_allocator(allocators.front(), prove::fixed_request(), [](const std::string&) {});
    end_if_stopped();
    const bool known = proof.verdict != prove::ProofVerdict::kUntested;
    return {known, proof.verdict == prove::ProofVerdict::kClean, proof.sentence};
  } catch (const Error& failure) {
    return unknown(failure.what());
  }
}

Observed Expectation::observe(const Allocator& allocator, const Place& place) const {
  switch (subject_) {
    case Subject::kMetric:
      return observe_metric(allocator, place);
    case Subject::kThresholds:
    case Subject::kThreshold:
      return observe_thresholds(allocator, place);
    case Subject::kFinding:
      return observe_finding(allocator, place);
    case Subject::kPromises:
      return observe_promises(allocator);
  }
  return {};
}

ProgramExpectation ProgramExpectation::parse(const std::string& text) {
  const Condition condition = parse_condition(text);
  ProgramExpectation expectation;
  expectation.text_ = text;
  expectation.comparison_ = condition.comparison;
  const std::string& subject = condition.subject;
  const std::size_t in = subject.find(" in ");
  const auto [metric, process] = metric_of_processes(subject);
  if (metric) {
    expectation.metric_ = *metric;
    expectation.process_ = process;
    expectation.name_ = name_of(row_of(*metric), process);
  } else if (in != std::string::npos) {
    expectation.site_number_ = number_named(subject.substr(0, in));
    expectation.function_ = subject.substr(in + 4);
    expectation.name_ = subject;
  } else {
    refuse_metric(subject.substr(0, subject.find(" of ")));
  }
  expectation.number_ = parse_expected(condition.value, expectation.unit() == Unit::kBytes);
  return expectation;
}

Unit ProgramExpectation::unit() const {
  if (site_number_) return *site_number_ == runs::SiteNumber::kCalls ? Unit::kCount : Unit::kBytes;
  return row_of(metric_).unit;
}

Measured<Range> ProgramExpectation::range_in(const baseline::Program& program) const {
  if (site_number_) {
    Range sum;
    for (const auto& [key, site] : program.sites) {
      if (site.place.function != function_) continue;
      sum.low += site.numbers[*site_number_].low;
      sum.high += site.numbers[*site_number_].high;
    }
    return sum;
  }
  if (process_.empty()) return program.metrics[metric_];
  const auto found = program.processes.find(process_);
  return found == program.processes.end() ? Measured<Range>(Range{}) : found->second[metric_];
}

Observed ProgramExpectation::observe(const baseline::Program& program) const {
  const Measured<Range> range = range_in(program);
  if (!range) return {false, false, fmt::format("{} is n/a: {}", name_, range.why())};
  const auto holds = [&](std::uint64_t value) { return comparison_->holds(static_cast<double>(value), number_); };
  // For a number between the two ends of the range, comparing the ends cannot decide == and !=.
  const bool inside = number_ > static_cast<double>(range->low) && number_ < static_cast<double>(range->high);
  const bool all = holds(range->low) && holds(range->high) && !(inside && comparison_->is("!="));
  return {true, all, fmt::format("{} is {}", name_, baseline::format_range(unit(), *range))};
}

}  // namespace zerotax::bisect
