#include <algorithm>
#include <array>

#include "baseline/review.h"
#include "judge/judgement.h"
#include "judge/signature.h"

namespace zerotax::baseline {
namespace {

/// A behavior of a point, as determined by a verdict function of findings, and the metrics that show the behavior.
struct Trait {
  Cause cause;
  YesNo (*holds)(const Point&);
  const std::vector<Metric>& metrics;
  bool in_first_calls;  ///< whether early calls can show the behavior
  bool first_calls_only = false;
};

/// Returns all traits, the most severe first.
const std::vector<Trait>& traits() {
  using enum Metric;
  static const std::vector<Metric> redundant{kZeroedBytes, kRedundantZeroedBytes};
  static const std::vector<Metric> reused{kZeroedBytes, kRedundantZeroedBytes, kZeroedMethod};
  static const std::vector<Metric> beyond{kZeroedBytes,  kRedundantZeroedBytes, kPopulatedBytes, kZeroedMethod,
                                          kCallocFaults, kKernelZeroedBytes,    kReturnedBytes};
  static const std::vector<Metric> fresh{kZeroedBytes,  kRedundantZeroedBytes, kPopulatedBytes,
                                         kZeroedMethod, kCallocFaults,         kTouchFaults,
                                         kFreeFaults,   kKernelZeroedBytes,    kReturnedBytes};
  static const std::vector<Metric> in_free{kZeroedInFreeBytes, kRedundantZeroedInFreeBytes, kFreeFaults};
  static const std::vector<Metric> returned{kCallocSyscalls, kFreeSyscalls,      kCallocFaults,
                                            kTouchFaults,    kFreeFaults,        kPopulatedBytes,
                                            kHome,           kKernelZeroedBytes, kReturnedBytes};
  static const std::vector<Trait> all{{Cause::kZeroesFresh, zeroes_fresh, fresh, true},
                                      {Cause::kZeroesReused, zeroes_reused, reused, true},
                                      {Cause::kZeroesBeyond, zeroes_beyond, beyond, true},
                                      {Cause::kZeroesInFree, needless_in_free, in_free, false},
                                      {Cause::kZeroesInFree, clears_in_free, in_free, false},
                                      {Cause::kReturnsMemory, returns_memory, returned, false},
                                      {Cause::kZeroesFresh, first_redundant, redundant, true, true}};
  return all;
}

bool shows_in(const Trait& trait, const BaselineChange& change) {
  if (!change.metric || (change.call > 0 ? !trait.in_first_calls : trait.first_calls_only)) return false;
  return std::find(trait.metrics.begin(), trait.metrics.end(), *change.metric) != trait.metrics.end();
}

/// A trait that a point gained or lost.
struct ChangedTrait {
  const Trait* trait;
  Direction direction;
};

/// Returns the changed traits that a change of the point shows. A difference that does not last is no evidence.
std::vector<ChangedTrait> changed_traits(const Point& before, const Point& after,
                                         const std::vector<BaselineChange>& changes) {
  std::vector<ChangedTrait> changed;
  for (const Trait& trait : traits()) {
    // Other cases request several sizes or blocks in one operation, so the sum of the sizes is not the size of a
    // request.
    if (trait.cause == Cause::kZeroesBeyond && before.case_name != kPlainCase) continue;
    const YesNo was = trait.holds(before);
    const YesNo is = trait.holds(after);
    if (was == YesNo::kUnknown || is == YesNo::kUnknown || was == is) continue;
    const bool shown = std::any_of(changes.begin(), changes.end(), [&](const BaselineChange& change) {
      return change.point == identity_of(before) && shows_in(trait, change);
    });
    if (!shown) continue;
    changed.push_back({&trait, is == YesNo::kYes ? Direction::kWorse : Direction::kBetter});
  }
  return changed;
}

bool has_status_change(const PointIdentity& point, const std::vector<BaselineChange>& changes) {
  return std::any_of(changes.begin(), changes.end(), [&](const BaselineChange& change) {
    return change.kind == ChangeKind::kStatus && change.point == point;
  });
}

Cause cause_of(PointStatus status) {
  if (status == PointStatus::kNotZero) return Cause::kNotZero;
  if (status == PointStatus::kMisaligned) return Cause::kMisaligned;
  return status == PointStatus::kSkipped ? Cause::kNotMeasured : Cause::kFails;
}

/// Returns the cause of a change of status. Such a change explains all other differences of the point.
Blame blame_of_status(PointStatus before, PointStatus after) {
  const auto failed = [](PointStatus status) { return !is_healthy(status); };
  if (failed(after)) return {cause_of(after), Direction::kWorse, false, true};
  if (failed(before)) return {cause_of(before), Direction::kBetter, false, true};
  return {Cause::kNotMeasured, Direction::kNeither, false, true};
}

/// Returns worse if some system call became more frequent and none less frequent, better in the opposite case, and
/// neither otherwise.
Direction direction_of_calls(const SystemCalls& before, const SystemCalls& after) {
  const auto has_more = [](const SystemCalls& one, const SystemCalls& other) {
    return std::any_of(one.begin(), one.end(), [&](const auto& call) {
      const auto found =
          std::find_if(other.begin(), other.end(), [&](const auto& each) { return each.first == call.first; });
      return call.second > (found == other.end() ? 0 : found->second);
    });
  };
  const bool more = has_more(after, before);
  if (more == has_more(before, after)) return Direction::kNeither;
  return more ? Direction::kWorse : Direction::kBetter;
}

bool is_compatible(Direction change, Direction cause) { return change == Direction::kNeither || change == cause; }

Blame blame_of_metric(const BaselineChange& change, const std::vector<ChangedTrait>& changed) {
  const Direction own = direction_of(change);
  const Blame alone{words_of(*change.metric).cause, own, change.call > 0, false};
  const ChangedTrait* best = nullptr;
  for (const ChangedTrait& each : changed) {
    if (!shows_in(*each.trait, change)) continue;
    if (best == nullptr || (!is_compatible(own, best->direction) && is_compatible(own, each.direction))) best = &each;
  }
  if (best == nullptr && change.call == 0) {
    // A change that shows no trait belongs to any changed trait whose direction is compatible.
    for (const ChangedTrait& each : changed) {
      if (each.trait->first_calls_only || !is_compatible(own, each.direction)) continue;
      best = &each;
      break;
    }
  }
  if (best == nullptr) return alone;
  return {best->trait->cause, best->direction, best->trait->first_calls_only, true};
}

/// A change of an early call is not limited to the first calls if the steady state changed in the same way.
void join_first_calls(const std::vector<BaselineChange>& changes, std::vector<Blame>& blames) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (blames[i].judged || changes[i].call == 0) continue;
    for (std::size_t k = 0; k < changes.size(); ++k) {
      const bool steady = changes[k].call == 0 && changes[k].point == changes[i].point;
      if (!steady || blames[k].cause != blames[i].cause || blames[k].direction != blames[i].direction) continue;
      blames[i].first_calls_only = false;
      break;
    }
  }
}

/// Returns how closely two changes are related: 3 for the closest, 0 for unrelated changes or different metrics.
int nearness(const BaselineChange& one, const BaselineChange& other) {
  if (!one.metric || one.metric != other.metric || (one.call > 0) != (other.call > 0)) return 0;
  const bool same_size =
      one.point->case_name == other.point->case_name && one.point->size_bytes == other.point->size_bytes;
  if (same_size) return one.point->thread == other.point->thread ? 3 : 2;
  // In a case other than the plain case, a change follows from the change of the plain case.
  if (one.point->case_name != kPlainCase && other.point->case_name == kPlainCase) return 1;
  return one.before == other.before && one.after == other.after ? 1 : 0;
}

void join_siblings(const std::vector<BaselineChange>& changes, std::vector<Blame>& blames) {
  const std::vector<Blame> own = blames;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (own[i].judged || !changes[i].point) continue;
    int nearest = 0;
    for (std::size_t k = 0; k < changes.size(); ++k) {
      if (!own[k].judged || !changes[k].point || !is_compatible(own[i].direction, own[k].direction)) continue;
      if (const int near = nearness(changes[i], changes[k]); near > nearest) {
        nearest = near;
        blames[i] = own[k];
        // A copied cause is not evidence for the causes of further changes.
        blames[i].judged = false;
      }
    }
  }
}

}  // namespace

const MetricWords& words_of(Metric metric) {
  using enum Metric;
  static const std::vector<MetricWords> all{{kZeroedBytes, Cause::kZeroedBytes},
                                            {kRedundantZeroedBytes, Cause::kZeroedBytes},
                                            {kZeroedInFreeBytes, Cause::kZeroesInFree},
                                            {kRedundantZeroedInFreeBytes, Cause::kZeroesInFree},
                                            {kReturnedBytes, Cause::kReturnsMemory},
                                            {kCallocSyscalls, Cause::kSystemCalls, " in calloc"},
                                            {kFreeSyscalls, Cause::kSystemCalls, " in free"},
                                            {kHome, Cause::kPlacement, ""},
                                            {kZeroedMethod, Cause::kPlacement, ""},
                                            {kCallocFaults, Cause::kFaults, " fault{}"},
                                            {kTouchFaults, Cause::kFaults, " fault{} while writing"},
                                            {kFreeFaults, Cause::kFaults, " fault{} in free"},
                                            {kKernelZeroedBytes, Cause::kFaults},
                                            {kPopulatedBytes, Cause::kFaults}};
  return *std::find_if(all.begin(), all.end(), [&](const MetricWords& each) { return each.metric == metric; });
}

Direction direction_of(const BaselineChange& change) {
  const auto before = change.before.number();
  const auto after = change.after.number();
  if (before && after) return *after > *before ? Direction::kWorse : Direction::kBetter;
  const SystemCalls* calls = change.before.calls();
  if (calls != nullptr && change.after.calls() != nullptr) return direction_of_calls(*calls, *change.after.calls());
  return Direction::kNeither;
}

std::vector<Blame> blame_changes(const Baseline& before, const Baseline& after,
                                 const std::vector<BaselineChange>& changes) {
  std::vector<Blame> blames;
  for (const BaselineChange& change : changes) {
    Blame& blame = blames.emplace_back();
    if (change.kind == ChangeKind::kThreshold) continue;
    const Point* was = point_of(before, *change.point);
    const Point* is = point_of(after, *change.point);
    if (change.kind == ChangeKind::kNotMeasured || was == nullptr || is == nullptr) {
      blame = {Cause::kNotMeasured, Direction::kNeither, false, true};
    } else if (was->status != is->status && has_status_change(*change.point, changes)) {
      blame = blame_of_status(was->status, is->status);
    } else {
      blame = blame_of_metric(change, changed_traits(*was, *is, changes));
    }
  }
  join_first_calls(changes, blames);
  join_siblings(changes, blames);
  return blames;
}

}  // namespace zerotax::baseline
