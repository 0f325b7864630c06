#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "base/units.h"
#include "snapshot/result.h"

namespace zerotax::snapshot {
namespace {

/// What is left of the faults: of more than a remedy removes, and of more than measuring twice would differ by.
constexpr double kRemoved = 0.01;
constexpr double kReduced = 0.9;

Measured<AfterEnd> measured_after_end(const Result& result) {
  if (!result.ok()) return NotAvailable{result.reason.value_or("it failed")};
  return result.after_end;
}

/// The writers' reuse faults, of the runs in which each fault was traced.
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

const char* words_of(Effect effect) {
  return effect == Effect::kRemoves   ? "removes the faults"
         : effect == Effect::kReduces ? "removes some of the faults"
                                      : "does not help";
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
  // All CPU time: where a thread runs for a few ticks only, its division between user mode and kernel is rough.
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
      result.alternative, words_of(remedy.effect), format_count(static_cast<std::uint64_t>(faults.with)),
      remedy.reuse_faults ? "reuse " : "", format_count(static_cast<std::uint64_t>(faults.without)), of,
      format_ns(remedy.writers_cpu_ns.with), format_ns(remedy.writers_cpu_ns.without), format_ns(remedy.helper_cpu_ns),
      format_ns(std::abs(remedy.saved_ns)), remedy.saved_ns < 0 ? "more" : "less");
  return remedy;
}

}  // namespace zerotax::snapshot
