#include "point/value_words.h"

#include <fmt/format.h>

#include <numeric>

#include "base/units.h"

namespace zerotax {
namespace {

/// "2 of 7 calls".
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
