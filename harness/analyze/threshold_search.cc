#include "analyze/threshold_search.h"

#include <cmath>
#include <stdexcept>

namespace zerotax {
namespace {

class Search {
 public:
  explicit Search(const SignatureProbe& probe) : probe_(probe) {}

  Signature ask(std::uint64_t size) {
    ++result.probes;
    return probe_(size);
  }

  /// Everything that changes in (low, high]; the two ends are known.
  void bisect(std::uint64_t low, const Signature& at_low, std::uint64_t high, const Signature& at_high) {
    if (at_low == at_high) return;
    if (high - low == 1) {
      result.thresholds.push_back({high, at_low, at_high});
      return;
    }
    const std::uint64_t middle = low + (high - low) / 2;
    const Signature at_middle = ask(middle);
    bisect(low, at_low, middle, at_middle);
    bisect(middle, at_middle, high, at_high);
  }

  void repeat_edges() {
    for (const Threshold& threshold : result.thresholds) {
      if (ask(threshold.at_bytes - 1) != threshold.below) result.noisy.push_back(threshold.at_bytes - 1);
      if (ask(threshold.at_bytes) != threshold.above) result.noisy.push_back(threshold.at_bytes);
    }
  }

  ThresholdSearch result;

 private:
  const SignatureProbe& probe_;
};

}  // namespace

std::vector<std::uint64_t> threshold_grid(std::uint64_t from, std::uint64_t to, unsigned per_octave) {
  if (from == 0 || to < from || per_octave == 0) throw std::invalid_argument("no grid");
  std::vector<std::uint64_t> grid;
  for (unsigned step = 0;; ++step) {
    const double size = static_cast<double>(from) * std::exp2(static_cast<double>(step) / per_octave);
    if (size >= static_cast<double>(to)) break;
    const auto whole = static_cast<std::uint64_t>(size);
    if (grid.empty() || whole > grid.back()) grid.push_back(whole);
  }
  grid.push_back(to);
  return grid;
}

ThresholdSearch find_thresholds(const std::vector<std::uint64_t>& grid, const SignatureProbe& probe) {
  Search search(probe);
  std::vector<Signature> seen;
  for (const std::uint64_t size : grid) seen.push_back(search.ask(size));
  search.result.grid = grid.size();
  search.result.at_from = seen.front();
  for (std::size_t i = 1; i < grid.size(); ++i) search.bisect(grid[i - 1], seen[i - 1], grid[i], seen[i]);
  search.repeat_edges();
  return std::move(search.result);
}

}  // namespace zerotax
