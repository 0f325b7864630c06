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

/// The lower limit of a class of the histogram; class 0 begins at 0, as times of less than a nanosecond do not occur.
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

Json distribution_json(const std::vector<double>& ns) {
  Json json;
  json["count"] = ns.size();
  constexpr std::pair<const char*, double> kQuantiles[] = {{"min_ns", 0},    {"p25_ns", 0.25}, {"median_ns", 0.5},
                                                           {"p75_ns", 0.75}, {"p95_ns", 0.95}, {"p99_ns", 0.99},
                                                           {"max_ns", 1}};
  if (ns.empty()) {
    for (const char* key : {"total_ns", "mean_ns", "variance_ns2"}) json[key] = not_available("there are none");
    for (const auto& [key, q] : kQuantiles) json[key] = not_available("there are none");
    return json;
  }
  const Moments of = moments(ns);
  json["total_ns"] = std::accumulate(ns.begin(), ns.end(), 0.0);
  json["mean_ns"] = of.mean;
  json["variance_ns2"] = ns.size() > 1 ? Json(of.variance) : not_available("there is only one");
  for (const auto& [key, q] : kQuantiles) json[key] = quantile(ns, q);
  return json;
}

Json histogram_json(const std::vector<double>& ns) {
  std::map<std::size_t, std::uint64_t> counts;
  for (const double time : ns) ++counts[class_of(time)];
  Json histogram = Json::array();
  if (counts.empty()) return histogram;
  for (std::size_t number = counts.begin()->first; number <= counts.rbegin()->first; ++number) {
    const auto found = counts.find(number);
    histogram.push_back({{"from_ns", lower_limit(number)},
                         {"to_ns", lower_limit(number + 1)},
                         {"count", found == counts.end() ? 0 : found->second}});
  }
  return histogram;
}

std::string histogram_text(const Json& histogram, std::size_t columns) {
  constexpr std::size_t kBeforeBar = 36;
  std::uint64_t most = 1;
  for (const Json& row : histogram) most = std::max(most, row.at("count").get<std::uint64_t>());
  const std::size_t room = columns > kBeforeBar + 8 ? columns - kBeforeBar : 8;
  std::string text;
  for (const Json& row : histogram) {
    const auto count = row.at("count").get<std::uint64_t>();
    // Every count above 0 shows: as a bar of at least one mark.
    const std::size_t marks = count == 0 ? 0 : std::max<std::size_t>(1, count * room / most);
    std::string line =
        fmt::format("{:>9} to {:>9} {:>11}  {}", format_ns(row.at("from_ns").get<double>()),
                    format_ns(row.at("to_ns").get<double>()), format_count(count), std::string(marks, '#'));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace zerotax::trace
