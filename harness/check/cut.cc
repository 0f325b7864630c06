#include "check/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "base/units.h"

namespace zerotax::check {
namespace {

constexpr const char* kThresholds = "thresholds";

bool holds(Metric metric) {
  return std::find(kSteadyMetrics.begin(), kSteadyMetrics.end(), metric) != kSteadyMetrics.end();
}

bool is_number(Metric metric) { return row_of(metric).kind != MetricKind::kWord; }

std::vector<std::string> keys(bool only_numbers) {
  std::vector<std::string> found = compared_words();
  if (only_numbers)
    std::erase_if(found, [](const auto& key) { return key == kThresholds || !is_number(*metric_of_key(key)); });
  return found;
}

Metric metric_of_word(const std::string& option, const std::string& word, bool only_numbers) {
  const auto metric = metric_of_key(word);
  const auto refuse = [&](const char* why) {
    refuse_word(fmt::format("invalid {} '{}': {}", option, word, why), word, keys(only_numbers));
  };
  if (!metric) refuse("no such metric");
  if (!holds(*metric)) refuse("baselines do not hold it");
  if (only_numbers && !is_number(*metric)) refuse("it is no number");
  return *metric;
}

/// "5%", "4KiB", "2".
Tolerance parse_tolerance(const std::string& option, const std::string& text) {
  Tolerance tolerance;
  if (text.ends_with('%')) {
    const char* end = text.data() + text.size() - 1;
    const auto [rest, failure] = std::from_chars(text.data(), end, tolerance.most);
    if (failure == std::errc() && rest == end && tolerance.most > 0 && tolerance.most <= 100) {
      return {tolerance.most / 100, true};
    }
  } else {
    try {
      return {static_cast<double>(parse_size(text)), false};
    } catch (const UsageError&) {
      // Said below, with what else it may be.
    }
  }
  throw UsageError(fmt::format("invalid --tolerance '{}'", option),
                   "give METRIC=N, as in calloc_faults=2, zeroed_bytes=4KiB or returned_bytes=5%");
}

void add_tolerance(const std::string& word, Tolerances& tolerances) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) {
    throw UsageError(fmt::format("invalid --tolerance '{}'", word),
                     "give METRIC=N, as in calloc_faults=2, zeroed_bytes=4KiB or returned_bytes=5%");
  }
  const Metric metric = metric_of_word("--tolerance", word.substr(0, equals), true);
  if (!tolerances.emplace(metric, parse_tolerance(word, word.substr(equals + 1))).second) {
    throw UsageError(fmt::format("--tolerance {} is given twice", row_of(metric).key), "give it once");
  }
}

}  // namespace

std::vector<std::string> compared_words() {
  std::vector<std::string> words;
  for (const Metric metric : kSteadyMetrics) words.emplace_back(row_of(metric).key);
  words.emplace_back(kThresholds);
  return words;
}

CheckScope parse_scope(const std::vector<std::string>& sizes, const std::vector<std::string>& only,
                       const std::vector<std::string>& tolerances) {
  CheckScope scope;
  for (const std::string& size : sizes) scope.sizes.push_back(parse_size(size));
  const bool wants_thresholds = std::find(only.begin(), only.end(), kThresholds) != only.end();
  if (wants_thresholds && !sizes.empty()) {
    throw UsageError("--only thresholds and --size exclude each other", "thresholds are of all sizes: leave one out");
  }
  scope.thresholds = sizes.empty() && (only.empty() || wants_thresholds);
  scope.all_metrics = only.empty();
  for (const std::string& word : only) {
    if (word != kThresholds) scope.metrics.push_back(metric_of_word("--only", word, false));
  }
  for (const std::string& word : tolerances) add_tolerance(word, scope.tolerances);
  return scope;
}

Baseline cut_to_sizes(const Baseline& baseline, const CheckScope& scope, const std::string& file) {
  Baseline cut = baseline;
  if (!scope.thresholds) cut.thresholds.reset();
  if (scope.sizes.empty()) return cut;
  std::set<std::uint64_t> held;
  for (const Point& point : baseline.points) held.insert(point.size_bytes);
  std::vector<std::string> words;
  words.reserve(held.size());
  for (const std::uint64_t size : held) words.push_back(format_size(size));
  for (const std::uint64_t size : scope.sizes) {
    if (held.contains(size)) continue;
    throw UsageError(fmt::format("{} has no point of {}", file, format_given_size(size)), choices_text(words));
  }
  std::erase_if(cut.points, [&](const Point& point) {
    return std::find(scope.sizes.begin(), scope.sizes.end(), point.size_bytes) == scope.sizes.end();
  });
  return cut;
}

Baseline cut_to_metrics(const Baseline& baseline, const CheckScope& scope) {
  Baseline cut = baseline;
  if (scope.all_metrics) return cut;
  if (scope.metrics.empty()) cut.points.clear();
  const auto drop = [&](std::initializer_list<Metric> held, MetricValues& values) {
    for (const Metric metric : held) {
      const bool kept = std::find(scope.metrics.begin(), scope.metrics.end(), metric) != scope.metrics.end();
      if (!kept) values[metric] = MetricValue();
    }
  };
  for (Point& point : cut.points) {
    drop(kSteadyMetrics, point);
    for (FirstOperation& operation : point.first_ops) drop(kEarlyMetrics, operation);
  }
  return cut;
}

}  // namespace zerotax::check
