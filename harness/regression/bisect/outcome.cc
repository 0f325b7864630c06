#include "bisect/outcome.h"

#include <algorithm>

#include "base/size.h"
#include "run/experiment.h"
#include "run/interrupt.h"

namespace zerotax::bisect {
namespace {

/// Where allocators that differ do so, if nobody has said a size.
constexpr std::uint64_t kPlainSize = 20 * kMiB;

std::vector<Finding> findings_in(const Allocator& allocator, std::uint64_t size, double timeout_s) {
  const std::vector<Point> points = audited_for_rules(allocator, "calloc_loop", size, timeout_s);
  std::vector<Finding> all;
  for (const AllocatorFindings& each : find_findings(points, Json())) {
    all.insert(all.end(), each.findings.begin(), each.findings.end());
  }
  return all;
}

/// Those of one version that the other has not.
std::vector<Finding> beyond(std::vector<Finding> own, const std::vector<Finding>& other) {
  std::erase_if(own, [&](const Finding& finding) {
    return std::any_of(other.begin(), other.end(), [&](const auto& each) { return each.name == finding.name; });
  });
  return own;
}

BisectOutcome compared(const BisectSetup& setup, const Bisection& found,
                       const std::function<void(const char*)>& watch) {
  const Commit& after = *found.first;
  const Versions versions(setup.builder, setup.workspace);
  const auto answer_of = [&](const Commit& commit) {
    const Answer* known = found.answer_of(commit.id);
    return known != nullptr ? *known : ask(versions, commit, setup.question, watch);
  };
  BisectOutcome outcome;
  outcome.before = setup.repository.commit(after.parents.front(), "git bisect");
  outcome.before_answer = answer_of(outcome.before);
  outcome.after_answer = answer_of(after);
  outcome.diffstat = setup.repository.diffstat(found.author_of_change());
  Version old_version = versions.measured(outcome.before, setup.question.grid, watch);
  Version new_version = versions.measured(after, setup.question.grid, watch);
  if (old_version.measurement && new_version.measurement) {
    outcome.difference = difference_between(versions, old_version, new_version, setup.question.grid, watch);
  }
  if (setup.question.grid.command) return outcome;
  const auto new_library = versions.allocator_of(new_version, watch);
  const auto old_library = versions.allocator_of(old_version, watch);
  if (!new_library || !old_library) return outcome;
  outcome.version = new_library->version;
  outcome.library = new_version.build->library;
  const std::uint64_t size = setup.question.place.size_bytes != 0 ? setup.question.place.size_bytes : kPlainSize;
  const double timeout_s = setup.question.grid.timeout_s;
  std::vector<Finding> before = findings_in(*old_library, size, timeout_s);
  std::vector<Finding> after_it = findings_in(*new_library, size, timeout_s);
  outcome.findings = found.is_fix ? beyond(std::move(before), after_it) : beyond(std::move(after_it), before);
  return outcome;
}

}  // namespace

BisectOutcome outcome_of(const BisectSetup& setup, const Bisection& found) {
  BisectOutcome outcome;
  Item item;
  item.measure = [&](const Say& say) { outcome = compared(setup, found, [&say](const char* what) { say(what); }); };
  if (!Experiment("comparing with the version before").run({item})) throw Stop{};
  return outcome;
}

}  // namespace zerotax::bisect
