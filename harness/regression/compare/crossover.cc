#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <stdexcept>

#include "base/statistics.h"
#include "compare/along.h"

namespace zerotax::compare {
namespace {

/// Number of places on either side whose noise is assumed to equal that of the place between them.
constexpr std::size_t kNeighbours = 2;
/// Two factors for robust statistics (Rousseeuw and Croux, JASA 88, 1993). The first is the number of standard
/// deviations of a normal distribution in a median absolute deviation. The second compares a median and a median
/// absolute deviation with a mean and a standard deviation: the ratio of variances, and of degrees of freedom.
constexpr double kMadToDeviation = 1.4826;
constexpr double kMedianVariance = std::numbers::pi / 2;
constexpr double kMadEfficiency = 0.37;
/// If a ratio changes by more than this between neighbors, interpolation is meaningless.
constexpr double kJump = std::numbers::ln2;

using Curve = std::vector<double>;  ///< one log ratio for each place

int sign_of(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/// A run of neighboring places with the same sign; zeros count as either sign.
struct Run {
  std::size_t first;
  std::size_t last;
  int sign;
};

class Finder {
 public:
  Finder(std::vector<PairedSample> samples, Axis axis, const CrossoverMethod& method)
      : samples_(std::move(samples)), axis_(axis), method_(method) {
    std::sort(samples_.begin(), samples_.end(), [](const auto& one, const auto& other) { return one.at < other.at; });
    std::vector<std::vector<double>> values;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (samples_[i].log_ratios.empty()) throw std::invalid_argument("a place without pairs");
      if (i > 0 && samples_[i].at == samples_[i - 1].at) throw std::invalid_argument("two samples at one place");
      if (axis == Axis::kLogarithmic && !(samples_[i].at > 0))
        throw std::invalid_argument("a place that is not on this axis");
      values.push_back(samples_[i].log_ratios);
      medians_.push_back(median(samples_[i].log_ratios));
    }
    resampled_ = resampled_medians(values, method.resamples, method.seed);
    for (std::size_t i = 0; i < samples_.size(); ++i) clearness_.push_back(clearness(i));
  }

  Crossover find() {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      result_.points.push_back({samples_[i].at, medians_[i], interval_at(i), is_clear(i)});
    }
    if (samples_.empty()) return result_;
    std::vector<Run> runs = observed_runs();
    drop_unproven(runs);
    for (std::size_t k = 1; k < runs.size(); ++k) add_crossing(runs[k - 1], runs[k]);
    for (std::size_t k = 0; k < runs.size(); ++k) add_stretch(runs, k);
    return result_;
  }

 private:
  [[nodiscard]] double place(std::size_t i) const {
    return axis_ == Axis::kLogarithmic ? std::log(samples_[i].at) : samples_[i].at;
  }
  [[nodiscard]] double back(double place) const { return axis_ == Axis::kLogarithmic ? std::exp(place) : place; }

  /// Returns how far the median is from 0, in units of the distance that noise alone could cause at one of all places
  /// (Bonferroni). From 1 on, the median is clear. The noise is the pooled median absolute deviation of the
  /// neighborhood, because one place has too few pairs.
  [[nodiscard]] double clearness(std::size_t i) const {
    if (medians_[i] == 0) return 0;
    std::vector<double> deviations;
    double degrees = 0;
    const std::size_t end = std::min(samples_.size(), i + kNeighbours + 1);
    for (std::size_t k = i - std::min(i, kNeighbours); k < end; ++k) {
      std::vector<double> own;
      for (const double value : samples_[k].log_ratios) own.push_back(std::abs(value - medians_[k]));
      std::sort(own.begin(), own.end());
      // Skips the smallest deviation, because one value is the median itself, or two values straddle the median.
      deviations.insert(deviations.end(), own.begin() + 1, own.end());
      degrees += static_cast<double>(own.size() - 1);
    }
    if (deviations.empty()) return 0;
    const double deviation = kMadToDeviation * median(deviations);
    const auto pairs = static_cast<double>(samples_[i].log_ratios.size());
    const double tail = (1 - method_.level) / 2 / static_cast<double>(samples_.size());
    const double margin =
        student_quantile(tail, kMadEfficiency * degrees) * deviation * std::sqrt(kMedianVariance / pairs);
    return margin > 0 ? std::abs(medians_[i]) / margin : std::numeric_limits<double>::infinity();
  }

  [[nodiscard]] bool is_clear(std::size_t i) const { return clearness_[i] >= 1; }

  [[nodiscard]] Interval interval_at(std::size_t i) const {
    std::vector<double> column;
    for (const Curve& curve : resampled_) column.push_back(curve[i]);
    return percentile_interval(column, method_.level);
  }

  [[nodiscard]] std::vector<Run> observed_runs() const {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < medians_.size(); ++i) {
      const int sign = sign_of(medians_[i]);
      const bool goes_on = !runs.empty() && (sign == 0 || runs.back().sign == 0 || sign == runs.back().sign);
      if (!goes_on) {
        runs.push_back({i, i, sign});
        continue;
      }
      runs.back().last = i;
      if (sign != 0) runs.back().sign = sign;
    }
    return runs;
  }

  /// Returns the place of the run at which its sign is clearest.
  [[nodiscard]] std::size_t clearest(const Run& run) const {
    std::size_t best = run.first;
    double most = -1;
    for (std::size_t i = run.first; i <= run.last; ++i) {
      if (sign_of(medians_[i]) != run.sign || clearness_[i] <= most) continue;
      best = i;
      most = clearness_[i];
    }
    return best;
  }

  [[nodiscard]] bool is_clear(const Run& run) const { return is_clear(clearest(run)); }

  /// Removes runs that noise causes where two curves lie close together. An unclear run between two other runs joins
  /// these runs, the least clear run first.
  void drop_unproven(std::vector<Run>& runs) {
    while (runs.size() > 2) {
      auto weakest = runs.begin() + 1;
      for (auto run = runs.begin() + 1; run + 1 != runs.end(); ++run) {
        if (clearness_[clearest(*run)] < clearness_[clearest(*weakest)]) weakest = run;
      }
      if (is_clear(*weakest)) return;
      note_dip(*weakest);
      (weakest - 1)->last = (weakest + 1)->last;
      runs.erase(weakest, weakest + 2);
    }
  }

  void note_dip(const Run& run) {
    const std::size_t deepest = clearest(run);
    const double share = share_of([&](const Curve& curve) { return sign_of(curve[deepest]) == run.sign; });
    if (share < method_.level) return;
    result_.dips.push_back({samples_[run.first].at, samples_[run.last].at, medians_[deepest], share});
  }

  template <typename Condition>
  [[nodiscard]] double share_of(const Condition& condition) const {
    const auto count = std::count_if(resampled_.begin(), resampled_.end(), condition);
    return static_cast<double>(count) / static_cast<double>(resampled_.size());
  }

  /// Returns the part (0 to 1) of the gap from place i - 1 to place i in which the curve has this sign. Interpolates
  /// linearly.
  [[nodiscard]] static double part_with_sign(const Curve& curve, std::size_t i, int sign) {
    const double before = curve[i - 1] * sign;
    const double after = curve[i] * sign;
    if (before >= 0 && after >= 0) return before == 0 && after == 0 ? 0.5 : 1;
    if (before <= 0 && after <= 0) return 0;
    return std::max(before, after) / (std::abs(before) + std::abs(after));
  }

  /// Returns where a curve crosses between two places at which its signs differ. Between neighbors, interpolates
  /// linearly. If unclear places lie between the two places, uses the crossing of the best-fitting straight line. If
  /// the ratio jumps among these places, uses the part of the gap in which the curve has the first sign, measured from
  /// the first place. Returns nothing if the signs at the two places are not the requested ones.
  [[nodiscard]] std::optional<double> locate(const Curve& curve, std::size_t low, std::size_t high, int sign) const {
    if (sign_of(curve[low]) != sign || sign_of(curve[high]) != -sign) return {};
    double at = place(low);
    bool jump = false;
    for (std::size_t i = low + 1; i <= high; ++i) {
      at += (place(i) - place(i - 1)) * part_with_sign(curve, i, sign);
      jump = jump || std::abs(medians_[i] - medians_[i - 1]) > kJump;
    }
    return high - low == 1 || jump ? at : fitted(curve, low, high, sign).value_or(at);
  }

  /// Returns the place at which the least-squares line through these places crosses 0. Returns nothing if the line does
  /// not cross 0 between these places in the requested direction.
  [[nodiscard]] std::optional<double> fitted(const Curve& curve, std::size_t low, std::size_t high, int sign) const {
    const auto count = static_cast<double>(high - low + 1);
    double mean_place = 0;
    double mean = 0;
    for (std::size_t i = low; i <= high; ++i) {
      mean_place += place(i) / count;
      mean += curve[i] / count;
    }
    double covariance = 0;
    double variance = 0;
    for (std::size_t i = low; i <= high; ++i) {
      covariance += (place(i) - mean_place) * (curve[i] - mean);
      variance += (place(i) - mean_place) * (place(i) - mean_place);
    }
    if (covariance * sign >= 0) return {};
    const double at = mean_place - mean * variance / covariance;
    if (at < place(low) || at > place(high)) return {};
    return at;
  }

  /// Returns the clear place of a run that is nearest to the run's end (or beginning). Without a clear place, returns
  /// the clearest place.
  [[nodiscard]] std::size_t anchor(const Run& run, bool at_end) const {
    for (std::size_t k = 0; k <= run.last - run.first; ++k) {
      const std::size_t i = at_end ? run.last - k : run.first + k;
      if (is_clear(i) && sign_of(medians_[i]) == run.sign) return i;
    }
    return clearest(run);
  }

  void add_crossing(const Run& below, const Run& above) {
    const std::size_t low = anchor(below, true);
    const std::size_t high = anchor(above, false);
    const double at = locate(medians_, low, high, below.sign).value();
    std::vector<double> found;
    for (const Curve& curve : resampled_) {
      if (const auto located = locate(curve, low, high, below.sign)) found.push_back(*located);
    }
    Crossing crossing{};
    crossing.share = static_cast<double>(found.size()) / static_cast<double>(resampled_.size());
    Interval interval = found.empty() ? Interval{at, at} : percentile_interval(found, method_.level);
    std::size_t gap = low + 1;
    while (gap < high && place(gap) < at) ++gap;
    crossing.jump = std::abs(medians_[gap] - medians_[gap - 1]) > kJump;
    if (crossing.jump) {
      interval = {std::min(interval.low, place(gap - 1)), std::max(interval.high, place(gap))};
    }
    crossing.at = back(at);
    crossing.interval = {back(interval.low), back(interval.high)};
    crossing.bracket = {samples_[low].at, samples_[high].at};
    crossing.log_ratio_before = medians_[low];
    crossing.log_ratio_after = medians_[high];
    crossing.certain = crossing.share >= method_.level && is_clear(low) && is_clear(high);
    result_.crossings.push_back(crossing);
  }

  void add_stretch(const std::vector<Run>& runs, std::size_t k) {
    const Run& run = runs[k];
    const auto from = medians_.begin() + static_cast<std::ptrdiff_t>(run.first);
    const auto to = medians_.begin() + static_cast<std::ptrdiff_t>(run.last) + 1;
    const auto [least, most] = std::minmax_element(from, to);
    result_.stretches.push_back({k == 0 ? samples_.front().at : result_.crossings[k - 1].at,
                                 k + 1 == runs.size() ? samples_.back().at : result_.crossings[k].at,
                                 run.sign,
                                 is_clear(run),
                                 medians_[run.first],
                                 medians_[run.last],
                                 {*least, *most}});
  }

  std::vector<PairedSample> samples_;
  Axis axis_;
  CrossoverMethod method_;
  Curve medians_;
  std::vector<double> clearness_;
  std::vector<Curve> resampled_;
  Crossover result_;
};

}  // namespace

Crossover find_crossover(std::vector<PairedSample> samples, Axis axis, const CrossoverMethod& method) {
  return Finder(std::move(samples), axis, method).find();
}

std::vector<double> refine_bracket(const Crossover& found, const Crossing& crossing, Axis axis, std::size_t count) {
  const auto place = [axis](double at) { return axis == Axis::kLogarithmic ? std::log(at) : at; };
  std::vector<double> places;
  for (const PointVerdict& point : found.points) {
    if (point.at >= crossing.bracket.low && point.at <= crossing.bracket.high) places.push_back(place(point.at));
  }
  std::vector<double> added;
  while (places.size() > 1 && added.size() < count) {
    const double target = place(crossing.at);
    std::size_t widest = 1;
    if (added.empty()) {
      while (widest + 1 < places.size() && places[widest] < target) ++widest;
    } else {
      for (std::size_t i = 2; i < places.size(); ++i) {
        if (places[i] - places[i - 1] > places[widest] - places[widest - 1]) widest = i;
      }
    }
    const double middle = (places[widest] + places[widest - 1]) / 2;
    places.insert(places.begin() + static_cast<std::ptrdiff_t>(widest), middle);
    added.push_back(axis == Axis::kLogarithmic ? std::exp(middle) : middle);
  }
  std::sort(added.begin(), added.end());
  return added;
}

}  // namespace zerotax::compare
