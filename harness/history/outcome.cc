#include "history/outcome.h"

#include <algorithm>

#include "base/size.h"
#include "core/progress.h"

namespace zerotax::history {
namespace {

/// Where allocators that differ do so, if nobody has said a size.
constexpr std::uint64_t kPlainSize = 20 * kMiB;

std::vector<findings::Finding> findings_in(const Allocator& allocator, std::uint64_t size, double timeout_s) {
  const std::vector<Point> points = audited_for_rules(allocator, "calloc_loop", size, timeout_s);
  std::vector<findings::Finding> all;
  for (const findings::AllocatorFindings& each : findings::find_findings(points, Json())) {
    all.insert(all.end(), each.findings.begin(), each.findings.end());
  }
  return all;
}

/// What was answered while bisecting; nothing if git did not need to know.
std::optional<Answer> answered(const Bisection& found, const std::string& id) {
  if (id == found.good.id) return found.good_answer;
  if (id == found.bad.id) return found.bad_answer;
  for (const BisectStep& step : found.steps) {
    if (step.commit.id == id) return step.answer;
  }
  return std::nullopt;
}

}  // namespace

BisectOutcome outcome_of(const BisectSetup& setup, const Bisection& found) {
  const Commit& after = *found.first_bad;
  const Versions versions(setup.builder, setup.workspace);
  Progress progress("comparing with the version before", 1, 1);
  const auto watch = [&](const char* what) { progress.show(what); };
  const auto answer_of = [&](const Commit& commit) {
    const auto known = answered(found, commit.id);
    return known ? *known : ask(versions, commit, setup.question, watch);
  };
  BisectOutcome outcome;
  outcome.before = setup.repository.commit(after.parents.front(), "git bisect");
  outcome.before_answer = answer_of(outcome.before);
  outcome.after_answer = answer_of(after);
  outcome.diffstat = setup.repository.diffstat(after);
  Version old_version = versions.measured(outcome.before, setup.question.grid, watch);
  Version new_version = versions.measured(after, setup.question.grid, watch);
  if (old_version.measurement && new_version.measurement) {
    outcome.difference = difference_between(versions, old_version, new_version, setup.question.grid, watch);
  }
  const auto new_library = versions.allocator_of(new_version, watch);
  const auto old_library = versions.allocator_of(old_version, watch);
  if (!new_library || !old_library) return outcome;
  outcome.version = new_library->version;
  outcome.library = new_version.build->library;
  const std::uint64_t size = setup.question.place.size_bytes != 0 ? setup.question.place.size_bytes : kPlainSize;
  const double timeout_s = setup.question.grid.timeout_s;
  const std::vector<findings::Finding> known = findings_in(*old_library, size, timeout_s);
  for (findings::Finding& finding : findings_in(*new_library, size, timeout_s)) {
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const auto& other) { return other.name == finding.name; });
    if (!is_known) outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace zerotax::history
