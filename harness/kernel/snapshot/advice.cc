#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/units.h"
#include "snapshot/result.h"

namespace zerotax::snapshot {
namespace {

using Results = std::vector<const Result*>;
/// Something that an alternative can have less of than another.
using Measure = std::function<Spread(const Result&)>;

Spread wall(const Result& result) { return *result.writers_wall_ns; }
Spread stopped(const Result& result) { return *result.stopped_ns; }
Spread added_memory(const Result& result) {
  constexpr double kApart = 0.05;  // of one run: when the child gets how far is chance
  const auto bytes = static_cast<double>(result.memory->added_bytes());
  return {bytes, bytes * (1 - kApart), bytes * (1 + kApart)};
}

bool forks(const Result* result) { return result->has_child.value_or(false); }

/// What one has: fork, or else the first with a child. Null if there is neither.
const Result* what_one_has(const Results& snapshots) {
  const Result* first = nullptr;
  for (const Result* result : snapshots) {
    if (result->alternative == "fork") return result;
    if (first == nullptr && forks(result)) first = result;
  }
  return first;
}

/// Less by this share at least: two runs of the same differ by some percent.
constexpr double kClearly = 0.95;

/// The name of the one with the least; of none if that is what one has, or not clearly better.
Measured<std::string> least(const Results& of, const Result* base, const Measure& measure) {
  if (of.size() < 2) return NotAvailable{"nothing else was measured"};
  const Result* best = *std::min_element(of.begin(), of.end(), [&](const Result* one, const Result* other) {
    return measure(*one).median < measure(*other).median;
  });
  if (base != nullptr && (best == base || measure(*best).p95 >= measure(*base).p05 ||
                          measure(*best).median > kClearly * measure(*base).median)) {
    return NotAvailable{fmt::format("nothing that was measured is clearly better than {}", base->alternative)};
  }
  return best->alternative;
}

Measured<std::string> least_memory(const Results& of, const Result* base) {
  for (const Result* result : of) {
    if (!result->memory) return NotAvailable{result->memory.why()};
  }
  return least(of, base, added_memory);
}

/// The remedy that removes the faults after the child's end and saves the most CPU time.
Measured<std::string> best_remedy(const Results& snapshots) {
  const Result* best = nullptr;
  bool measured = false;
  for (const Result* result : snapshots) {
    if (!result->remedy) continue;
    measured = true;
    if (result->remedy->effect != Effect::kRemoves) continue;
    if (best == nullptr || result->remedy->saved_ns > best->remedy->saved_ns) best = result;
  }
  if (best != nullptr) return best->alternative;
  return NotAvailable{measured ? "no remedy that was measured removes them" : "no remedy was measured"};
}

/// Commands that measure what was not.
std::vector<NextCommand> next_commands(const Snapshot& snapshot, const Results& snapshots, bool has_remedy) {
  const std::string command = fmt::format("zerotax snapshot --size {}", size_word(snapshot.parameters.array_bytes));
  std::vector<NextCommand> next;
  if (std::all_of(snapshots.begin(), snapshots.end(), forks)) {
    next.push_back({command, "the alternatives to a forked child"});
  }
  if (!has_remedy && std::any_of(snapshots.begin(), snapshots.end(), forks)) {
    next.push_back({command + " --remedies", "the remedies for the faults after the child's end"});
  }
  return next;
}

Advice advice_under(const Snapshot& snapshot, const std::string& allocator, Results snapshots) {
  const Result* base = what_one_has(snapshots);
  // What writes more often, or by other threads, cannot be compared.
  if (base != nullptr) {
    std::erase_if(snapshots, [&](const Result* each) { return each->compared_with() != base->compared_with(); });
  }
  Results with_child;
  std::copy_if(snapshots.begin(), snapshots.end(), std::back_inserter(with_child), forks);
  // What is done after the child's end changes nothing before it.
  Results before_end = snapshots;
  std::erase_if(before_end, [&](const Result* result) {
    const std::string of = snapshot.remedied_by(*result);
    return std::any_of(snapshots.begin(), snapshots.end(), [&](const Result* each) { return each->alternative == of; });
  });
  Advice advice;
  advice.allocator = allocator;
  advice.instead_of = base == nullptr ? Measured<std::string>(NotAvailable{"no alternative with a child was measured"})
                                      : base->alternative;
  advice.least_time = least(snapshots, base, wall);
  advice.shortest_stop = least(before_end, base, stopped);
  advice.least_memory = least_memory(before_end, base);
  advice.least_time_with_child = least(with_child, base, wall);
  advice.no_faults_after_end = best_remedy(snapshots);
  advice.next = next_commands(snapshot, snapshots, advice.no_faults_after_end.has_value());
  return advice;
}

}  // namespace

std::vector<Advice> advice_of(const Snapshot& snapshot) {
  std::vector<Advice> advice;
  for (const std::string& allocator : snapshot.allocators()) {
    Results snapshots;
    for (const Result& result : snapshot.results) {
      if (result.allocator == allocator && result.took_snapshot()) snapshots.push_back(&result);
    }
    if (!snapshots.empty()) advice.push_back(advice_under(snapshot, allocator, snapshots));
  }
  return advice;
}

}  // namespace zerotax::snapshot
