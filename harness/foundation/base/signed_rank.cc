#include "base/signed_rank.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace zerotax {

SignedRankNull::SignedRankNull(std::size_t n) : n_(n) {
  constexpr std::size_t kMost = 200;
  if (n < 1 || n > kMost) throw std::invalid_argument("signed ranks of 1 to 200 values");
  // Each rank is part of the sum with probability 1/2.
  std::vector<double> probability(n * (n + 1) / 2 + 1, 0.0);
  probability[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    for (std::size_t w = rank * (rank + 1) / 2 + 1; w-- > 0;) {
      probability[w] = (probability[w] + (w >= rank ? probability[w - rank] : 0)) / 2;
    }
  }
  double sum = 0;
  for (const double each : probability) cumulative_.push_back(sum += each);
}

double SignedRankNull::at_most(std::size_t w) const {
  return std::min(1.0, cumulative_[std::min(w, cumulative_.size() - 1)]);
}

std::size_t SignedRankNull::cut(double level) const {
  const auto end = std::find_if(cumulative_.begin(), cumulative_.end(), [&](double each) { return 2 * each > level; });
  return static_cast<std::size_t>(end - cumulative_.begin());
}

std::vector<double> walsh_averages(const std::vector<double>& sample) {
  std::vector<double> averages;
  averages.reserve(sample.size() * (sample.size() + 1) / 2);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    for (std::size_t j = i; j < sample.size(); ++j) averages.push_back((sample[i] + sample[j]) / 2);
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

double signed_rank_p(const std::vector<double>& averages, const SignedRankNull& null) {
  const auto below =
      static_cast<std::size_t>(std::upper_bound(averages.begin(), averages.end(), 0.0) - averages.begin());
  const auto above = static_cast<std::size_t>(averages.end() - std::lower_bound(averages.begin(), averages.end(), 0.0));
  return std::min(1.0, 2 * null.at_most(std::min(below, above)));
}

Interval signed_rank_interval(const std::vector<double>& averages, const SignedRankNull& null, double level) {
  // The same arithmetic as in signed_rank_p, so that the two can never contradict each other.
  const std::size_t k = std::min(null.cut(1 - level), (averages.size() + 1) / 2);
  if (k == 0) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  return {averages[k - 1], averages[averages.size() - k]};
}

}  // namespace zerotax
