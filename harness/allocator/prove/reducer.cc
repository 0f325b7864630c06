#include "prove/reducer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace zerotax::prove {
namespace {

/// Rounds of dropping and simplifying. Later rounds rarely change a sequence.
constexpr int kMostRounds = 4;
/// Simplifying tries each operation several times, so the reducer only cuts longer sequences.
constexpr std::size_t kMostSimplified = 400;

/// Positions of operations that belong together.
using Group = std::vector<std::size_t>;

std::uint64_t bytes_of(const Op& op) { return op.n * (op.m == 0 ? 1 : op.m); }

/// Whether the product of n and m is too large for a size_t.
bool overflows(const Op& op) { return op.m != 0 && op.n > std::numeric_limits<std::uint64_t>::max() / op.m; }

/// Groups a block with its reallocations and its free, and a thread's start with its end.
std::vector<Group> lifetimes(const Ops& ops) {
  std::map<std::uint32_t, std::size_t> unit_of;
  std::map<std::uint64_t, std::size_t> started;
  std::vector<Group> units;
  for (std::size_t at = 0; at < ops.size(); ++at) {
    const Op& op = ops[at];
    std::size_t unit = units.size();
    if (const auto found = unit_of.find(op.block); op.block != 0 && op.kind != kOpFork && found != unit_of.end()) {
      unit = found->second;
    }
    if (const auto found = started.find(op.n); op.kind == kOpEnd && found != started.end()) {
      unit = found->second;
      started.erase(found);
    }
    if (unit == units.size()) units.emplace_back();
    units[unit].push_back(at);
    if (op.kind == kOpCall) unit_of[op.id] = unit;
    if (op.kind == kOpStart) started[op.n] = unit;
  }
  return units;
}

std::vector<Group> single_groups(const Ops& ops) {
  std::vector<Group> units(ops.size());
  for (std::size_t at = 0; at < ops.size(); ++at) units[at] = {at};
  return units;
}

/// Returns the operations without those on blocks that no operation allocates.
Ops without_unknown_blocks(const Ops& ops) {
  std::set<std::uint32_t> made{0};
  Ops kept;
  for (const Op& op : ops) {
    if (made.count(op.block) == 0 && op.kind != kOpFork) continue;
    if (op.kind == kOpCall) made.insert(op.id);
    if (op.block != 0 && (op.kind == kOpFree || op.kind == kOpCall)) made.erase(op.block);
    kept.push_back(op);
  }
  return kept;
}

/// The search for a shorter sequence, with the best sequence so far.
class Reducer {
 public:
  Reducer(Ops ops, const Shows& shows, const std::function<bool()>& is_over)
      : ops_(std::move(ops)), shows_(shows), is_over_(is_over) {}

  Reduction run() {
    const std::size_t before = ops_.size();
    for (int round = 0; round < kMostRounds && !is_over_(); ++round) {
      const Ops earlier = ops_;
      drop(lifetimes(ops_));
      take(without_unknown_blocks(ops_));
      drop(single_groups(ops_));
      if (ops_.size() < kMostSimplified) {
        shrink_sizes();
        simplify();
      }
      if (is_same(earlier, ops_)) break;
    }
    return {std::move(ops_), before, tries_};
  }

 private:
  static bool is_same(const Ops& one, const Ops& other) {
    const auto equal = [](const Op& a, const Op& b) {
      return a.kind == b.kind && a.thread == b.thread && a.fill == b.fill && a.lg == b.lg && a.id == b.id &&
             a.block == b.block && a.row == b.row && a.n == b.n && a.m == b.m;
    };
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), equal);
  }

  /// Keeps other operations as the best sequence if they show the finding.
  bool take(Ops other) {
    if (is_over_() || other.empty() || is_same(other, ops_)) return false;
    ++tries_;
    if (!shows_(other)) return false;
    ops_ = std::move(other);
    return true;
  }

  /// Drops as many units as possible, from large chunks to single units.
  void drop(const std::vector<Group>& units) {
    const Ops all = ops_;
    std::vector<std::size_t> kept(units.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    const auto chosen = [&](const std::vector<std::size_t>& which) {
      Group positions;
      for (const std::size_t unit : which) positions.insert(positions.end(), units[unit].begin(), units[unit].end());
      std::sort(positions.begin(), positions.end());
      Ops some;
      some.reserve(positions.size());
      for (const std::size_t at : positions) some.push_back(all[at]);
      return some;
    };
    for (std::size_t chunk = std::max<std::size_t>(1, kept.size() / 2); chunk > 0 && !is_over_();) {
      bool has_dropped = false;
      for (std::size_t at = 0; at < kept.size() && !is_over_();) {
        std::vector<std::size_t> fewer(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(at));
        if (at + chunk < kept.size()) {
          fewer.insert(fewer.end(), kept.begin() + static_cast<std::ptrdiff_t>(at + chunk), kept.end());
        }
        if (!fewer.empty() && take(chosen(fewer))) {
          kept = std::move(fewer);
          has_dropped = true;
        } else {
          at += chunk;
        }
      }
      if (chunk == 1 && has_dropped) continue;
      chunk /= 2;
    }
  }

  /// Returns simpler forms of an operation, the simplest first.
  static Ops simpler(const Op& op) {
    Ops variants;
    const auto with = [&](auto change) {
      Op changed = op;
      change(changed);
      variants.push_back(changed);
    };
    if (op.thread != 0) with([](Op& each) { each.thread = 0; });
    if (op.kind == kOpPause && op.n > 1000) with([](Op& each) { each.n /= 2; });
    if (op.kind != kOpCall) return variants;
    if (op.fill != kFillNone) with([](Op& each) { each.fill = kFillNone; });
    if (op.fill != kFillNone && op.fill != kFillAll) with([](Op& each) { each.fill = kFillAll; });
    const bool is_fresh_realloc = op.row >= kRowRealloc && op.row <= kRowReallocarray && op.block == 0;
    if (is_fresh_realloc || (op.row > kRowReallocarray && op.row <= kRowLastNew)) {
      with([](Op& each) {
        each.row = kRowMalloc;
        each.lg = 0;
        each.m = 0;
      });
    }
    if (op.m > 1 && op.n > 1 && !overflows(op)) {
      with([](Op& each) {
        each.m *= each.n;
        each.n = 1;
      });
    }
    if (const std::uint64_t power = std::bit_floor(op.n); power != op.n) with([&](Op& each) { each.n = power; });
    return variants;
  }

  void simplify() {
    for (std::size_t at = 0; at < ops_.size(); ++at) {
      for (bool has_changed = true; has_changed && !is_over_();) {
        const Ops variants = simpler(ops_[at]);
        has_changed = std::any_of(variants.begin(), variants.end(), [&](const Op& variant) {
          Ops changed = ops_;
          changed[at] = variant;
          return take(std::move(changed));
        });
      }
    }
  }

  /// Gives all calls of one size the next smaller power of two, or half of it, as long as the finding stays.
  void shrink_sizes() {
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
    std::set<std::uint64_t, std::greater<>> sizes;
    for (const Op& op : ops_) {
      if (op.kind == kOpCall && !overflows(op) && bytes_of(op) < kMostBytes) sizes.insert(bytes_of(op));
    }
    for (std::uint64_t size : sizes) {
      while (size > 1) {
        const std::uint64_t power = std::bit_floor(size);
        const std::uint64_t smaller = power != size ? power : size / 2;
        Ops changed = ops_;
        for (Op& op : changed) {
          if (op.kind != kOpCall || overflows(op) || bytes_of(op) != size) continue;
          op.n = smaller;
          op.m = op.m == 0 ? 0 : 1;
        }
        if (!take(std::move(changed))) break;
        size = smaller;
      }
    }
  }

  Ops ops_;
  const Shows& shows_;
  const std::function<bool()>& is_over_;
  std::size_t tries_ = 0;
};

}  // namespace

Reduction reduce(const Ops& ops, const Shows& shows, const std::function<bool()>& is_over) {
  return Reducer(ops, shows, is_over).run();
}

}  // namespace zerotax::prove
