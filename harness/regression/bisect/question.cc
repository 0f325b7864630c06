#include "bisect/question.h"

#include <fmt/format.h>

#include <algorithm>

#include "baseline/result.h"
#include "baseline/review.h"

namespace zerotax::bisect {
namespace {

Difference program_difference(const baseline::Program& before, const baseline::Program& after) {
  const baseline::ProgramCheck check =
      baseline::check_of(before, baseline::compare(before, after), after.measured_on, "as before");
  Difference difference;
  for (const baseline::ProgramChange& change : check.changes) difference.changes.push_back(change.line);
  for (const NotCompared& each : check.not_compared) difference.unsteady.push_back(each.name);
  difference.verdict = check.verdict;
  difference.passes = check.passed;
  difference.sentence = check.sentence;
  return difference;
}

Answer compared_with_good(const Versions& versions, const Commit& commit, const Question& question,
                          const Watch& watch) {
  Version good = versions.measured(question.good, question.grid, watch);
  if (!good.measurement) return {Answer::Kind::kUnknown, "the good version: " + why_not(good)};
  if (commit.id == question.good.id) return {Answer::Kind::kGood, "it is the good version"};
  Version version = versions.measured(commit, question.grid, watch);
  if (!version.measurement) return {Answer::Kind::kUnknown, why_not(version)};
  const Difference difference = difference_between(versions, good, version, question.grid, watch);
  return {difference.passes ? Answer::Kind::kGood : Answer::Kind::kBad, difference.sentence};
}

Answer answer_of(const Observed& observed) {
  if (!observed.known) return {Answer::Kind::kUnknown, observed.value};
  return {observed.holds ? Answer::Kind::kGood : Answer::Kind::kBad, observed.value};
}

}  // namespace

Difference difference_between(const Versions& versions, Version& before, Version& after, const Grid& grid,
                              const Watch& watch) {
  if (grid.command) return program_difference(*before.measurement->program, *after.measurement->program);
  const baseline::Baseline& old = before.measurement->baseline;
  const baseline::Baseline& now = after.measurement->baseline;
  Difference difference;
  std::vector<baseline::BaselineChange> changes = compare_baselines(old, now);
  if (!changes.empty()) {
    const auto new_library = versions.allocator_built(after);
    const auto old_library = versions.allocator_built(before);
    const auto look = [&] { watch("comparing"); };
    if (new_library && old_library) {
      bool first = true;
      const baseline::BaselineVerdict verdict =
          baseline::hold_against(old, [&](const baseline::BaselinePart& part, const PointTime& time) {
            if (std::exchange(first, false)) return now;
            return measure_part(*new_library, grid.timeout_s, part, time, look);
          });
      changes = verdict.changes;
      difference.unsteady = verdict.unsteady;
      difference.unsteady.insert(difference.unsteady.end(), verdict.by_the_clock.begin(), verdict.by_the_clock.end());
      // The earlier version may vary, too, so this part of the earlier version is measured again.
      const baseline::BaselinePart part = part_of(changes);
      const baseline::Baseline again = measure_part(*old_library, grid.timeout_s, part, {old.clock, 0}, look);
      std::vector<std::string> moved;
      for (const baseline::BaselineChange& change : compare_baselines(old, again)) moved.push_back(change.name);
      std::erase_if(changes, [&](const baseline::BaselineChange& change) {
        const bool is_moved = std::find(moved.begin(), moved.end(), change.name) != moved.end();
        if (is_moved) difference.unsteady.push_back(change.name);
        return is_moved;
      });
    }
  }
  const baseline::Review review = baseline::review_changes(old, now, changes);
  for (const baseline::BaselineChange& change : review.changes) difference.changes.push_back(change.line);
  difference.passes = review.changes.empty();
  difference.verdict = review.verdict;
  difference.sentence = review.changes.empty() ? "as the version before" : review.sentence;
  return difference;
}

std::string text_of(const Question& question) {
  if (question.expect_program) return question.expect_program->text();
  return question.expect ? question.expect->text() : "as " + question.good.name();
}

Answer ask(const Versions& versions, const Commit& commit, const Question& question, const Watch& watch) {
  if (question.expect_program) {
    const Version measured = versions.measured(commit, question.grid, watch);
    if (!measured.measurement) return {Answer::Kind::kUnknown, why_not(measured)};
    return answer_of(question.expect_program->observe(*measured.measurement->program));
  }
  if (!question.expect) return compared_with_good(versions, commit, question, watch);
  Version version;
  version.commit = commit;
  const auto allocator = versions.allocator_of(version, watch);
  if (!allocator) return {Answer::Kind::kUnknown, why_not(version)};
  watch("measuring");
  return answer_of(question.expect->observe(*allocator, question.place));
}

}  // namespace zerotax::bisect
