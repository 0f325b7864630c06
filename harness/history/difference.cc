#include "history/difference.h"

#include <algorithm>

#include "check/review.h"

namespace zerotax::history {

Difference difference_between(const Versions& versions, Version& before, Version& after, const Grid& grid,
                              const std::function<void(const char* what)>& watch) {
  const check::Baseline& old = before.measurement->baseline;
  const check::Baseline& now = after.measurement->baseline;
  Difference difference;
  difference.changes = compare_baselines(old, now);
  if (!difference.changes.empty()) {
    const auto new_library = versions.allocator_built(after);
    const auto old_library = versions.allocator_built(before);
    const auto look = [&] { watch("comparing"); };
    if (new_library && old_library) {
      bool first = true;
      const check::BaselineVerdict verdict =
          check::hold_against(old, [&](const check::BaselinePart& part, const PointTime& time) {
            if (std::exchange(first, false)) return now;
            return measure_part(*new_library, grid.timeout_s, part, time, look);
          });
      difference.changes = verdict.changes;
      difference.unsteady = verdict.unsteady;
      difference.unsteady.insert(difference.unsteady.end(), verdict.by_the_clock.begin(), verdict.by_the_clock.end());
      // The earlier version may be what was not the same each time.
      const check::BaselinePart part = part_of(difference.changes);
      const check::Baseline again = measure_part(*old_library, grid.timeout_s, part, {old.clock, 0}, look);
      std::vector<std::string> moved;
      for (const check::BaselineChange& change : compare_baselines(old, again)) moved.push_back(change.name);
      std::erase_if(difference.changes, [&](const check::BaselineChange& change) {
        const bool is_moved = std::find(moved.begin(), moved.end(), change.name) != moved.end();
        if (is_moved) difference.unsteady.push_back(change.name);
        return is_moved;
      });
    }
  }
  const check::Review review = check::review_changes(old, now, difference.changes);
  difference.verdict = check::word_of(review.verdict);
  difference.sentence = difference.changes.empty() ? "as the version before" : review.sentence;
  return difference;
}

}  // namespace zerotax::history
