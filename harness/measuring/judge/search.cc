#include "judge/search.h"

#include <algorithm>
#include <utility>

namespace zerotax {
namespace {

struct Probed {
  std::uint64_t size;
  Signature signature;
  std::uint64_t known;  ///< the largest size, up to `size`, at which the complete signature was measured
};

bool alike_but_for_free(const Signature& one, const Signature& other) {
  Signature cleared = one;
  cleared.fresh.in_free = cleared.reuse.in_free = {};
  return cleared == other;
}

/// Fills in unknown zeroing in free from a neighboring size that is otherwise alike.
bool complete(Signature& signature, const Signature& neighbour) {
  return alike_but_for_free(signature, neighbour) && take_unknown(signature, neighbour);
}

class Search {
 public:
  explicit Search(const SignatureProbe& probe, std::set<std::uint64_t> likely = {})
      : probe_(probe), likely_(std::move(likely)) {}

  Signature ask(std::uint64_t size) {
    ++result.probes;
    return probe_(size);
  }

  Probed ask_above(const Probed& low, std::uint64_t size) {
    Probed asked{size, ask(size), size};
    if (complete(asked.signature, low.signature)) asked.known = low.known;
    return asked;
  }

  /// Finds all changes of behavior between two neighbors of the grid.
  void search_gap(const Probed& low, const Probed& high) {
    more_changes_ = kMostChangesInGap - 1;
    bisect(low, high);
  }

  void repeat_edges() {
    for (const Threshold& threshold : result.thresholds) {
      if (!threshold.exact()) continue;
      if (ask(threshold.after_bytes) != threshold.below) result.noisy.push_back(threshold.after_bytes);
      if (ask(threshold.at_bytes) != threshold.above) result.noisy.push_back(threshold.at_bytes);
    }
  }

  ThresholdSearch result;

 private:
  /// Chooses a size between two that are more than one byte apart. If a likely threshold lies between the two sizes,
  /// probes one side of that threshold first, then the other.
  [[nodiscard]] std::uint64_t between(std::uint64_t low, std::uint64_t high) const {
    const auto at = likely_.upper_bound(low);
    if (at != likely_.end() && *at <= high) {
      if (*at - 1 > low) return *at - 1;
      if (*at < high) return *at;
    }
    return low + (high - low) / 2;
  }

  void bisect(const Probed& low, const Probed& high) {
    if (low.signature == high.signature) return;
    if (high.size - low.size == 1) return found(low, high);
    Probed middle = ask_above(low, between(low.size, high.size));
    complete(middle.signature, high.signature);
    if (middle.signature != low.signature && middle.signature != high.signature) {
      const bool noisy = ask(middle.size) != middle.signature;
      if (noisy) result.noisy.push_back(middle.size);
      if (noisy || more_changes_ == 0) return found(low, high);
      --more_changes_;
    }
    bisect(low, middle);
    bisect(middle, high);
  }

  void found(const Probed& low, const Probed& high) {
    const std::uint64_t after = alike_but_for_free(low.signature, high.signature) ? low.known : low.size;
    result.thresholds.push_back({after, high.size, low.signature, high.signature});
  }

  const SignatureProbe& probe_;
  std::set<std::uint64_t> likely_;
  std::size_t more_changes_ = 0;
};

}  // namespace

bool ThresholdSearch::is_noisy(const Threshold& threshold) const {
  return std::any_of(noisy.begin(), noisy.end(),
                     [&](std::uint64_t size) { return size >= threshold.after_bytes && size <= threshold.at_bytes; });
}

ThresholdSearch look_for_thresholds(const std::vector<std::uint64_t>& edges, const SignatureProbe& probe) {
  Search search(probe);
  for (const std::uint64_t edge : edges) {
    const Signature below = search.ask(edge - 1);
    const Signature above = search.ask(edge);
    if (below != above) search.result.thresholds.push_back({edge - 1, edge, below, above});
  }
  return std::move(search.result);
}

ThresholdSearch find_thresholds(const std::vector<std::uint64_t>& grid, const SignatureProbe& probe,
                                const std::set<std::uint64_t>& likely) {
  Search search(probe, likely);
  std::vector<Probed> seen;
  seen.reserve(grid.size());
  seen.push_back({grid.front(), search.ask(grid.front()), grid.front()});
  for (std::size_t i = 1; i < grid.size(); ++i) seen.push_back(search.ask_above(seen.back(), grid[i]));
  for (std::size_t i = grid.size() - 1; i > 0; --i) complete(seen[i - 1].signature, seen[i].signature);
  search.result.grid = grid.size();
  search.result.at_from = seen.front().signature;
  for (std::size_t i = 1; i < grid.size(); ++i) search.search_gap(seen[i - 1], seen[i]);
  search.repeat_edges();
  return std::move(search.result);
}

}  // namespace zerotax
