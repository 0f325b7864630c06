#include "base/paired_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/statistics.h"
#include "base/units.h"

namespace zerotax {
namespace {

using Kind = TimeVerdict::Kind;

/// Caches the null distribution for each number of pairs.
class Nulls {
 public:
  const SignedRankNull& of(std::size_t pairs) { return nulls_.try_emplace(pairs, pairs).first->second; }

 private:
  std::map<std::size_t, SignedRankNull> nulls_;
};

bool stands_out(const TimeVerdict& verdict) { return verdict.interval.low > 0 || verdict.interval.high < 0; }

Kind kind_of(const TimeVerdict& verdict, const CompareMethod& method) {
  const double margin = std::max(std::log1p(method.same), verdict.band);
  if (stands_out(verdict) && std::abs(verdict.log_ratio) > verdict.band) {
    return verdict.log_ratio > 0 ? Kind::kSlower : Kind::kFaster;
  }
  const bool narrow = verdict.interval95.low >= -margin && verdict.interval95.high <= margin;
  return narrow ? Kind::kSame : Kind::kAmbiguous;
}

std::vector<TimeVerdict> judge(const std::vector<TimeSample>& samples, const CompareMethod& method, Nulls& nulls) {
  std::vector<TimeVerdict> verdicts(samples.size());
  std::vector<std::vector<double>> averages(samples.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].log_ratios.empty()) continue;
    order.push_back(i);
    averages[i] = walsh_averages(samples[i].log_ratios);
    verdicts[i].log_ratio = median(averages[i]);
    verdicts[i].band = std::log1p(std::max(method.band, method.floor_ns / std::max(1.0, samples[i].old_ns)));
    verdicts[i].p = signed_rank_p(averages[i], nulls.of(samples[i].log_ratios.size()));
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return verdicts[a].p < verdicts[b].p; });
  // Holm's method compares the smallest p with alpha / m, the next with alpha / (m - 1), and so on. From the first
  // failure on, every p is compared with the level of that failure.
  double largest = 0;
  bool failed = false;
  double level = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    TimeVerdict& verdict = verdicts[order[rank]];
    const auto left = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, verdict.p * left));
    verdict.adjusted_p = largest;
    if (!failed) level = 1 - method.alpha / left;
    failed = failed || verdict.p > 1 - level;
    verdict.level = level;
    const std::vector<double>& own = averages[order[rank]];
    const SignedRankNull& null = nulls.of(samples[order[rank]].log_ratios.size());
    verdict.interval = signed_rank_interval(own, null, level);
    verdict.interval95 = signed_rank_interval(own, null, 0.95);
    verdict.kind = kind_of(verdict, method);
  }
  return verdicts;
}

bool any_alarm(const std::vector<TimeVerdict>& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(), [](const TimeVerdict& verdict) {
    return verdict.kind == Kind::kFaster || verdict.kind == Kind::kSlower;
  });
}

}  // namespace

TimeRatio ratio_of(const TimeVerdict& verdict) {
  return {std::exp(verdict.log_ratio), std::exp(verdict.interval95.low), std::exp(verdict.interval95.high)};
}

std::string words_of(const TimeRatio& ratio) {
  return fmt::format("{} times; {} to {}", format_number(ratio.median), format_number(ratio.low),
                     format_number(ratio.high));
}

std::vector<TimeVerdict> judge_times(const std::vector<TimeSample>& samples, const CompareMethod& method) {
  Nulls nulls;
  return judge(samples, method, nulls);
}

std::size_t fewest_pairs(std::size_t points, double alpha) {
  // The strongest evidence is one sign in all pairs. By chance, this has a probability of 2 / 2^pairs.
  return static_cast<std::size_t>(
      std::ceil(std::log2(2 * static_cast<double>(std::max<std::size_t>(1, points)) / alpha)));
}

std::optional<double> false_alarm_rate(const std::vector<TimeSample>& samples, std::size_t times,
                                       const CompareMethod& method) {
  if (std::all_of(samples.begin(), samples.end(), [](const TimeSample& each) { return each.log_ratios.empty(); })) {
    return std::nullopt;
  }
  Nulls nulls;
  Random random(method.seed);
  std::vector<TimeSample> shuffled = samples;
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < times; ++i) {
    for (TimeSample& sample : shuffled) {
      for (double& value : sample.log_ratios) value = random.below(2) == 0 ? value : -value;
    }
    if (any_alarm(judge(shuffled, method, nulls))) ++alarms;
  }
  return static_cast<double>(alarms) / static_cast<double>(times);
}

}  // namespace zerotax
