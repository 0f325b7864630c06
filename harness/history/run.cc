#include "history/run.h"

#include <fmt/format.h>

#include "core/interrupt.h"
#include "core/progress.h"

namespace zerotax::history {
namespace {

/// Of what has to be built; a version that is known costs next to nothing.
constexpr double kWork = 1;
constexpr double kReading = 0.01;

/// The row before this one that was measured, or nullptr.
Row* measured_before(std::vector<Row>& rows) {
  for (std::size_t i = rows.size() - 1; i-- > 0;) {
    if (rows[i].version.measurement) return &rows[i];
  }
  return nullptr;
}

}  // namespace

History run_history(const Versions& versions, const std::vector<Commit>& commits, const Grid& grid,
                    const MeasuredVersions& measured) {
  const auto& known = measured.by_commit;
  std::vector<double> weights;
  double whole = 0;
  for (const Commit& commit : commits) {
    const bool is_known = known.contains(commit.id) || versions.is_known(commit, grid);
    whole += weights.emplace_back(is_known ? kReading : kWork);
  }
  Progress progress("versions", commits.size(), whole);
  History history;
  history.environments = measured.environments;
  for (const Commit& commit : commits) {
    Row& row = history.rows.emplace_back();
    row.version.commit = commit;
    const auto watch = [&](const char* what) { progress.show(fmt::format("{} {}", what, commit.name())); };
    try {
      if (const auto found = known.find(commit.id); found != known.end()) {
        row.version = found->second;
      } else {
        if (!history.complete || stop_requested()) throw Interrupted{};
        row.version = versions.measured(commit, grid, watch);
      }
      if (Row* before = measured_before(history.rows); before != nullptr && row.version.measurement) {
        row.compared_with = before->version.commit.name();
        if (!history.complete || stop_requested()) throw Interrupted{};
        row.difference = difference_between(versions, before->version, row.version, grid, watch);
      }
    } catch (const Interrupted&) {
      history.complete = false;
      if (row.version.state == Version::State::kNotMeasured) row.version.reason = "interrupted";
    }
    progress.advance(weights[history.rows.size() - 1]);
  }
  return history;
}

}  // namespace zerotax::history
