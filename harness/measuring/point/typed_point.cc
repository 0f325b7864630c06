#include "point/typed_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/units.h"
#include "point/plan.h"

namespace zerotax {

const char* word_of(PointStatus status) { return word(status); }

std::optional<PointStatus> status_of_word(std::string_view word) {
  for (const PointStatus status : all_statuses()) {
    if (word == word_of(status)) return status;
  }
  return std::nullopt;
}

const std::vector<PointStatus>& all_statuses() {
  static const std::vector<PointStatus> all = [] {
    std::vector<PointStatus> statuses;
    for (std::size_t i = 0; i < words_of(PointStatus{}).size(); ++i) statuses.push_back(static_cast<PointStatus>(i));
    return statuses;
  }();
  return all;
}

bool is_healthy(PointStatus status) { return status == PointStatus::kOk || status == PointStatus::kSkipped; }

bool has_result(PointStatus status) {
  return status == PointStatus::kOk || status == PointStatus::kNotZero || status == PointStatus::kMisaligned;
}

bool Point::has_violation(PointStatus promise) const {
  return std::find(violations.begin(), violations.end(), word_of(promise)) != violations.end();
}

bool is_healthy(const Point& point) { return is_healthy(point.status); }

bool has_result(const Point& point) { return has_result(point.status); }

std::string key_of(const Point& point) {
  return point_key(point.allocator, point.case_name, point.size_bytes, point.touch, point.thread);
}

std::string allocator_label(const Point& point) {
  std::string label = point.allocator;
  if (const auto version = point.version.word()) label += " " + *version;
  return label + settings_words(point.env);
}

std::string settings_words(const std::map<std::string, std::string>& env) {
  std::string words;
  for (const auto& [key, value] : env) words += fmt::format("{}{}={}", words.empty() ? " [" : " ", key, value);
  return words.empty() ? words : words + "]";
}

namespace {

/// Whether percentiles ascend. In versions up to 0.2, rounding could make a percentile of equal values exceed those
/// values.
bool ascend(double low, double high) { return low <= high + 1e-9 * std::abs(high); }

/// Returns a metric's position in a point, such as "/fork/fork_ns".
std::string place_of(const MetricRow& row) {
  std::string place;
  for (const char* key : keys_of(row.group)) place += fmt::format("/{}", key);
  return fmt::format("{}/{}", place, row.key);
}

std::string contradiction_here(const MetricValues& values, const std::string& place) {
  const auto zeroed = values.count(Metric::kZeroedBytes);
  const auto redundant = values.count(Metric::kRedundantZeroedBytes);
  if (zeroed && redundant && *redundant > *zeroed) {
    return fmt::format("{}{}: {} is more than all {} ({})", place, place_of(row_of(Metric::kRedundantZeroedBytes)),
                       *redundant, row_of(Metric::kZeroedBytes).key, *zeroed);
  }
  for (const MetricRow& row : metric_rows()) {
    const auto spread = values.spread(row.metric);
    if (!spread || (ascend(spread->p05, spread->median) && ascend(spread->median, spread->p95))) continue;
    return fmt::format("{}{}: p05, median and p95 do not ascend", place, place_of(row));
  }
  return "";
}

}  // namespace

bool is_healthy_status(const std::string& status) {
  const auto known = status_of_word(status);
  return known && is_healthy(*known);
}

std::string contradiction_in(const Point& point) {
  std::string found = contradiction_here(point, "");
  for (std::size_t i = 0; i < point.first_ops.size() && found.empty(); ++i) {
    found = contradiction_here(point.first_ops[i], fmt::format("/first_ops/{}", i));
  }
  return found;
}

namespace {

using Parts = std::array<Metric, 3>;  // metrics of calloc, touching and free
constexpr Parts kTimes{Metric::kCallocNs, Metric::kTouchNs, Metric::kFreeNs};
constexpr Parts kPartFaults{Metric::kCallocFaults, Metric::kTouchFaults, Metric::kFreeFaults};

/// Sums up the parts of an operation. `values` are the metrics of the point's steady state or of one operation, or
/// nullptr if there are none.
std::optional<double> sum_of(const Point& point, const MetricValues* values, const Parts& parts) {
  if (values == nullptr) return std::nullopt;
  double sum = 0;
  for (const Metric part : parts) {
    const auto number = values->number(part);
    if (!number && (part != parts[1] || point.touch != 0)) return std::nullopt;
    sum += number.value_or(0);
  }
  return sum;
}

std::optional<std::uint64_t> whole(std::optional<double> sum) {
  return sum ? std::optional(static_cast<std::uint64_t>(*sum)) : std::nullopt;
}

}  // namespace

std::optional<double> operation_ns(const Point& point) { return sum_of(point, &point, kTimes); }

std::optional<std::uint64_t> operation_faults(const Point& point) { return whole(sum_of(point, &point, kPartFaults)); }

std::optional<double> first_operation_ns(const Point& point) { return sum_of(point, point.first(), kTimes); }

std::optional<std::uint64_t> first_operation_faults(const Point& point) {
  return whole(sum_of(point, point.first(), kPartFaults));
}

namespace {

/// Returns how many of all calls are of this kind, such as "2 of 7 calls".
std::string share_words(const CallMode& kind, const std::vector<CallMode>& all) {
  const std::uint64_t calls = std::accumulate(all.begin(), all.end(), std::uint64_t{0},
                                              [](std::uint64_t sum, const CallMode& each) { return sum + each.ops; });
  return fmt::format("{} of {} calls", kind.ops, calls);
}

}  // namespace

std::string bytes_word(const MetricValues& values, Metric metric) {
  const auto count = values.count(metric);
  if (!count) return "n/a";
  return *count == 0 ? "0" : format_size(*count);
}

std::string count_word(const MetricValues& values, Metric metric) {
  const auto count = values.count(metric);
  return count ? format_count(*count) : "n/a";
}

std::string time_word(const MetricValues& values, Metric metric) {
  const auto ns = values.number(metric);
  return ns ? format_ns(*ns) : "n/a";
}

std::vector<std::string> mode_lines(const Point& point) {
  std::vector<std::string> lines;
  for (const CallMode& kind : point.audit_modes) {
    lines.push_back(fmt::format("{}: {} zeroed, {} of it redundant, {} populated", share_words(kind, point.audit_modes),
                                bytes_word(kind, Metric::kZeroedBytes), bytes_word(kind, Metric::kRedundantZeroedBytes),
                                bytes_word(kind, Metric::kPopulatedBytes)));
  }
  for (const CallMode& kind : point.timing_modes) {
    const auto faults = kind.count(Metric::kCallocFaults);
    lines.push_back(fmt::format("{}: {}, {}", share_words(kind, point.timing_modes),
                                faults ? format_counted(*faults, "page fault") : "page faults n/a",
                                time_word(kind, Metric::kCallocNs)));
  }
  return lines;
}

}  // namespace zerotax
