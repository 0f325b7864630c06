#include "bisect/program_expectation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/names.h"
#include "base/nearest.h"

namespace zerotax::bisect {
namespace {

using programs::MetricRow;
using programs::SiteNumber;

/// The metric of a key, or of a name for people.
std::optional<programs::Metric> metric_of(const std::string& word) {
  const std::string key = key_of_name(word);
  for (const MetricRow& row : programs::metric_rows()) {
    if (key == row.key || key == key_of_name(row.name)) return row.metric;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_metric(const std::string& word) {
  std::vector<std::string> keys;
  for (const MetricRow& row : programs::metric_rows()) keys.emplace_back(row.key);
  throw UsageError(fmt::format("--expect: unknown metric '{}'", word),
                   did_you_mean(word, keys) + "choose a metric of zerotax help metrics, as in 'page faults <= 2000'");
}

SiteNumber number_named(const std::string& word) {
  const std::string key = key_of_name(word);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < programs::kSiteNumbers; ++i) {
    const auto number = static_cast<SiteNumber>(i);
    if (key == programs::key_of(number)) return number;
    keys.emplace_back(programs::key_of(number));
  }
  refuse_word(fmt::format("--expect: '{}' is not counted of a function", word), word, keys);
}

/// The metric and the process name of "peak resident memory of cc1". Names of metrics may contain " of ", too.
std::pair<std::optional<programs::Metric>, std::string> metric_of_processes(const std::string& subject) {
  if (const auto whole = metric_of(subject)) return {whole, ""};
  for (std::size_t at = subject.find(" of "); at != std::string::npos; at = subject.find(" of ", at + 1)) {
    if (const auto metric = metric_of(subject.substr(0, at))) return {metric, subject.substr(at + 4)};
  }
  return {};
}

}  // namespace

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
    expectation.name_ = programs::name_of(row_of(*metric), process);
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
  if (site_number_) return *site_number_ == SiteNumber::kCalls ? Unit::kCount : Unit::kBytes;
  return row_of(metric_).unit;
}

Measured<Range> ProgramExpectation::range_in(const programs::Program& program) const {
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

Observed ProgramExpectation::observe(const programs::Program& program) const {
  const Measured<Range> range = range_in(program);
  if (!range) return {false, false, fmt::format("{} is n/a: {}", name_, range.why())};
  const auto holds = [&](std::uint64_t value) { return comparison_->holds(static_cast<double>(value), number_); };
  // Neither == nor != can be told from the two ends alone if the value lies between them.
  const bool inside = number_ > static_cast<double>(range->low) && number_ < static_cast<double>(range->high);
  const bool all = holds(range->low) && holds(range->high) && !(inside && comparison_->is("!="));
  return {true, all, fmt::format("{} is {}", name_, programs::format_range(unit(), *range))};
}

}  // namespace zerotax::bisect
