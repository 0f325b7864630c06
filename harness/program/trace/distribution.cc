#include "trace/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "base/statistics.h"
#include "base/units.h"

namespace zerotax::trace {
namespace {

constexpr std::array<double, 3> kSteps{1, 2, 5};

/// Returns the lower limit of a class of the histogram. Class 0 begins at 0 instead of 1, so that it also holds times
/// of 0 ns.
double lower_limit(std::size_t number) {
  if (number == 0) return 0;
  double limit = kSteps[number % kSteps.size()];
  for (std::size_t decade = number / kSteps.size(); decade > 0; --decade) limit *= 10;
  return limit;
}

std::size_t class_of(double ns) {
  std::size_t number = 0;
  while (lower_limit(number + 1) <= ns) ++number;
  return number;
}

}  // namespace

Distribution distribution_of(const std::vector<double>& ns) {
  const bool any = !ns.empty();
  const std::string none = "there are none";
  const Moments of = any ? moments(ns) : Moments{};
  const auto at = [&](double q) { return known_if(any, any ? quantile(ns, q) : 0, none); };
  return {ns.size(),
          known_if(any, std::accumulate(ns.begin(), ns.end(), 0.0), none),
          known_if(any, of.mean, none),
          known_if(ns.size() > 1, of.variance, any ? "there is only one time" : none),
          at(0),
          at(0.25),
          at(0.5),
          at(0.75),
          at(0.95),
          at(0.99),
          at(1)};
}

std::vector<HistogramRow> histogram_of(const std::vector<double>& ns) {
  std::map<std::size_t, std::uint64_t> counts;
  for (const double time : ns) ++counts[class_of(time)];
  std::vector<HistogramRow> histogram;
  if (counts.empty()) return histogram;
  for (std::size_t number = counts.begin()->first; number <= counts.rbegin()->first; ++number) {
    histogram.push_back({lower_limit(number), lower_limit(number + 1), counts[number]});
  }
  return histogram;
}

std::string histogram_text(const std::vector<HistogramRow>& histogram, std::size_t columns) {
  constexpr std::size_t kBeforeBar = 36;
  std::uint64_t most = 1;
  for (const HistogramRow& row : histogram) most = std::max(most, row.count);
  const std::size_t room = columns > kBeforeBar + 8 ? columns - kBeforeBar : 8;
  std::string text;
  for (const HistogramRow& row : histogram) {
    // Every count above 0 gets a bar of at least one mark.
    const std::size_t marks = row.count == 0 ? 0 : std::max<std::size_t>(1, row.count * room / most);
    std::string line = fmt::format("{:>9} to {:>9} {:>11}  {}", format_ns(row.from_ns), format_ns(row.to_ns),
                                   format_count(row.count), std::string(marks, '#'));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace zerotax::trace
