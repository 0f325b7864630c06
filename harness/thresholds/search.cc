#include "thresholds/search.h"

namespace zerotax::thresholds {
namespace {

struct Probed {
  std::uint64_t size;
  Signature signature;
};

class Search {
 public:
  explicit Search(const SignatureProbe& probe) : probe_(probe) {}

  Signature ask(std::uint64_t size) {
    ++result.probes;
    return probe_(size);
  }

  /// Everything that changes in (low, high], two neighbours of the grid.
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
  void bisect(const Probed& low, const Probed& high) {
    if (low.signature == high.signature) return;
    if (high.size - low.size == 1) return found(low, high);
    Probed middle{low.size + (high.size - low.size) / 2, {}};
    middle.signature = ask(middle.size);
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
    result.thresholds.push_back({low.size, high.size, low.signature, high.signature});
  }

  const SignatureProbe& probe_;
  std::size_t more_changes_ = 0;
};

}  // namespace

ThresholdSearch look_for_thresholds(const std::vector<std::uint64_t>& edges, const SignatureProbe& probe) {
  Search search(probe);
  for (const std::uint64_t edge : edges) {
    const Signature below = search.ask(edge - 1);
    const Signature above = search.ask(edge);
    if (below != above) search.result.thresholds.push_back({edge - 1, edge, below, above});
  }
  return std::move(search.result);
}

ThresholdSearch find_thresholds(const std::vector<std::uint64_t>& grid, const SignatureProbe& probe) {
  Search search(probe);
  std::vector<Probed> seen;
  seen.reserve(grid.size());
  for (const std::uint64_t size : grid) seen.push_back({size, search.ask(size)});
  search.result.grid = grid.size();
  search.result.at_from = seen.front().signature;
  for (std::size_t i = 1; i < grid.size(); ++i) search.search_gap(seen[i - 1], seen[i]);
  search.repeat_edges();
  return std::move(search.result);
}

}  // namespace zerotax::thresholds
