#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/units.h"
#include "snapshot/result.h"

namespace zerotax::snapshot {
namespace {

/// Limits on the share of the faults that a remedy leaves. A remedy that leaves more than kRemoved does not remove the
/// faults. A remedy that leaves more than kReduced is within the noise of two measurements.
constexpr double kRemoved = 0.01;
constexpr double kReduced = 0.9;

Measured<AfterEnd> measured_after_end(const Result& result) {
  if (!result.ok()) return NotAvailable{result.reason.value_or("it failed")};
  return result.after_end;
}

/// The writers' reuse faults in the runs in which each fault was traced.
Measured<WithAndWithout<std::uint64_t>> traced_reuses(const Result& without, const Result& with) {
  for (const Result* each : {&without, &with}) {
    if (!each->faults_held) return NotAvailable{each->faults_held.why()};
  }
  return WithAndWithout<std::uint64_t>{without.faults_held->after_end.reuses, with.faults_held->after_end.reuses};
}

Effect effect_of(double without, double with) {
  if (without <= 0) return Effect::kNone;
  if (with <= kRemoved * without) return Effect::kRemoves;
  return with <= kReduced * without ? Effect::kReduces : Effect::kNone;
}

const char* effect_words(Effect effect) {
  return effect == Effect::kRemoves   ? "removes the faults"
         : effect == Effect::kReduces ? "removes some of the faults"
                                      : "does not help";
}

using Results = std::vector<const Result*>;
/// A metric that a good alternative keeps low.
using Measure = std::function<Spread(const Result&)>;

Spread wall(const Result& result) { return *result.writers_wall_ns; }
Spread stopped(const Result& result) { return *result.stopped_ns; }
Spread added_memory(const Result& result) {
  constexpr double kApart = 0.05;  // assumed error of a single run, because the child's progress is a matter of chance
  const auto bytes = static_cast<double>(result.memory->added_bytes());
  return {bytes, bytes * (1 - kApart), bytes * (1 + kApart)};
}

bool forks(const Result* result) { return result->has_child.value_or(false); }

/// The alternative to improve on: fork, or else the first alternative with a child. Null if neither was measured.
const Result* what_one_has(const Results& snapshots) {
  const Result* first = nullptr;
  for (const Result* result : snapshots) {
    if (result->alternative == "fork") return result;
    if (first == nullptr && forks(result)) first = result;
  }
  return first;
}

/// Largest ratio of a clearly better value to the value of the alternative to improve on. Two equal runs differ by some
/// percent.
constexpr double kClearly = 0.95;

/// The name of the alternative with the lowest value of the metric. n/a if this alternative is the one to improve on,
/// or is not clearly better.
Measured<std::string> with_least(const Results& of, const Result* base, const Measure& measure) {
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
  return with_least(of, base, added_memory);
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
  return NotAvailable{measured ? "no measured remedy removes these faults" : "no remedy was measured"};
}

/// Commands that measure the alternatives or remedies that were not measured.
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
  // Alternatives with different numbers of writers or passes cannot be compared.
  if (base != nullptr) {
    std::erase_if(snapshots, [&](const Result* each) { return each->compared_with() != base->compared_with(); });
  }
  Results with_child;
  std::copy_if(snapshots.begin(), snapshots.end(), std::back_inserter(with_child), forks);
  // A remedy that acts after the child's end is left out, because it changes nothing before that end.
  Results before_end = snapshots;
  std::erase_if(before_end, [&](const Result* result) {
    const std::string of = snapshot.remedied_by(*result);
    return std::any_of(snapshots.begin(), snapshots.end(), [&](const Result* each) { return each->alternative == of; });
  });
  Advice advice;
  advice.allocator = allocator;
  advice.instead_of = base == nullptr ? Measured<std::string>(NotAvailable{"no alternative with a child was measured"})
                                      : base->alternative;
  advice.least_time = with_least(snapshots, base, wall);
  advice.shortest_stop = with_least(before_end, base, stopped);
  advice.least_memory = least_memory(before_end, base);
  advice.least_time_with_child = with_least(with_child, base, wall);
  advice.no_faults_after_end = best_remedy(snapshots);
  advice.next = next_commands(snapshot, snapshots, advice.no_faults_after_end.has_value());
  return advice;
}

}  // namespace

Measured<Remedy> remedy_of(const Snapshot& snapshot, const Result& result) {
  const std::string of = snapshot.remedied_by(result);
  if (of.empty()) return NotAvailable{"it is no remedy"};
  const Result* base = snapshot.find(result.allocator, of);
  if (base == nullptr) return NotAvailable{fmt::format("the alternative {} was not measured", of)};
  const Measured<AfterEnd> without = measured_after_end(*base);
  const Measured<AfterEnd> with = measured_after_end(result);
  if (!without) return NotAvailable{without.why()};
  if (!with) return NotAvailable{with.why()};
  if (!with->helper) return NotAvailable{with->helper.why()};
  Remedy remedy;
  remedy.of = of;
  remedy.faults = {without->writers_faults.median, with->writers_faults.median};
  remedy.writers_system_ns = {without->writers_system_ns.median, with->writers_system_ns.median};
  remedy.reuse_faults = traced_reuses(*base, result);
  // User and kernel time are added up, because their division is rough if a thread runs for only a few ticks.
  remedy.writers_cpu_ns = {without->writers_user_ns.median + without->writers_system_ns.median,
                           with->writers_user_ns.median + with->writers_system_ns.median};
  remedy.helper_cpu_ns = with->helper->user_ns.median + with->helper->system_ns.median;
  remedy.saved_ns = remedy.writers_cpu_ns.without - remedy.writers_cpu_ns.with - remedy.helper_cpu_ns;
  WithAndWithout<double> faults = remedy.faults;
  if (const auto& traced = remedy.reuse_faults) {
    faults = {static_cast<double>(traced->without), static_cast<double>(traced->with)};
  }
  remedy.effect = effect_of(faults.without, faults.with);
  remedy.sentence = fmt::format(
      "{} {}: the writers take {} {}faults after the child's end ({} with {}) and {} of CPU time ({}); the helper "
      "thread takes {}. In all, {} {}.",
      result.alternative, effect_words(remedy.effect), format_count(static_cast<std::uint64_t>(faults.with)),
      remedy.reuse_faults ? "reuse " : "", format_count(static_cast<std::uint64_t>(faults.without)), of,
      format_ns(remedy.writers_cpu_ns.with), format_ns(remedy.writers_cpu_ns.without), format_ns(remedy.helper_cpu_ns),
      format_ns(std::abs(remedy.saved_ns)), remedy.saved_ns < 0 ? "more" : "less");
  return remedy;
}

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
