#include "check/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "base/units.h"
#include "point/metric_named.h"

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
  const auto metric = metric_named(word);
  const auto refuse = [&](const char* why) {
    refuse_word(fmt::format("invalid {} '{}': {}", option, word, why), word, keys(only_numbers));
  };
  if (!metric) refuse("no such metric");
  if (!holds(*metric)) refuse("baselines do not hold it");
  if (only_numbers && !is_number(*metric)) refuse("it is no number");
  return *metric;
}

/// "5%", "4KiB", "2"; nothing for anything else.
std::optional<Tolerance> parse_tolerance(const std::string& text) {
  if (!text.ends_with('%')) {
    try {
      return Tolerance{static_cast<double>(parse_size(text)), false};
    } catch (const UsageError&) {
      return std::nullopt;
    }
  }
  double percent = 0;
  const char* end = text.data() + text.size() - 1;
  const auto [rest, failure] = std::from_chars(text.data(), end, percent);
  if (failure != std::errc() || rest != end || percent <= 0 || percent > 100) return std::nullopt;
  return Tolerance{percent / 100, true};
}

void add_tolerance(const std::string& word, Tolerances& tolerances) {
  const auto equals = word.find('=');
  Metric metric{};
  std::optional<Tolerance> tolerance;
  if (equals != std::string::npos) {
    metric = metric_of_word("--tolerance", word.substr(0, equals), true);
    tolerance = parse_tolerance(word.substr(equals + 1));
  }
  if (!tolerance) {
    throw UsageError(fmt::format("invalid --tolerance '{}'", word),
                     "give METRIC=N, as in calloc_faults=2, zeroed_bytes=4KiB or returned_bytes=5%");
  }
  if (!tolerances.emplace(metric, *tolerance).second) {
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

void refuse_other_sizes(const std::vector<std::uint64_t>& sizes, const std::set<std::uint64_t>& held,
                        const std::string& problem) {
  std::vector<std::string> words;
  words.reserve(held.size());
  for (const std::uint64_t size : held) words.push_back(format_size(size));
  for (const std::uint64_t size : sizes) {
    if (held.contains(size)) continue;
    throw UsageError(fmt::format("{} {}", problem, format_given_size(size)), choices_text(words));
  }
}

Baseline cut_to_sizes(const Baseline& baseline, const CheckScope& scope, const std::string& file) {
  Baseline cut = baseline;
  if (!scope.thresholds) {
    cut.thresholds.reset();
    cut.uncertain.clear();
  }
  if (scope.sizes.empty()) return cut;
  std::set<std::uint64_t> held;
  for (const Point& point : baseline.points) held.insert(point.size_bytes);
  refuse_other_sizes(scope.sizes, held, file + " has no point of");
  const auto is_out = [&](std::uint64_t size) {
    return std::find(scope.sizes.begin(), scope.sizes.end(), size) == scope.sizes.end();
  };
  std::erase_if(cut.points, [&](const Point& point) { return is_out(point.size_bytes); });
  std::erase_if(cut.ranges, [&](const SeenRange& range) { return is_out(range.point.size_bytes); });
  return cut;
}

Baseline cut_to_metrics(const Baseline& baseline, const CheckScope& scope) {
  Baseline cut = baseline;
  if (scope.all_metrics) return cut;
  if (scope.metrics.empty()) cut.points.clear();
  const auto is_kept = [&](Metric metric) {
    return std::find(scope.metrics.begin(), scope.metrics.end(), metric) != scope.metrics.end();
  };
  const auto drop = [&](std::initializer_list<Metric> held, MetricValues& values) {
    for (const Metric metric : held) {
      if (!is_kept(metric)) values[metric] = MetricValue();
    }
  };
  std::erase_if(cut.ranges, [&](const SeenRange& range) { return !is_kept(range.metric); });
  for (Point& point : cut.points) {
    drop(kSteadyMetrics, point);
    for (FirstOperation& operation : point.first_ops) drop(kEarlyMetrics, operation);
  }
  return cut;
}

}  // namespace zerotax::check
