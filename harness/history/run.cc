#include "history/run.h"

#include <fmt/format.h>

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

History run_history(const Versions& versions, const std::vector<Commit>& commits, const Grid& grid) {
  std::vector<double> weights;
  double whole = 0;
  for (const Commit& commit : commits) {
    whole += weights.emplace_back(versions.is_known(commit, grid) ? kReading : kWork);
  }
  Progress progress("versions", commits.size(), whole);
  History history;
  for (const Commit& commit : commits) {
    Row& row = history.rows.emplace_back();
    row.version.commit = commit;
    const auto watch = [&](const char* what) { progress.show(fmt::format("{} {}", what, commit.name())); };
    try {
      if (!history.complete) throw Interrupted{};
      row.version = versions.measured(commit, grid, watch);
      if (Row* before = measured_before(history.rows); before != nullptr && row.version.measurement) {
        row.compared_with = before->version.commit.name();
        row.difference = difference_between(versions, before->version, row.version, grid, watch);
      }
    } catch (const Interrupted&) {
      history.complete = false;
      if (!row.version.measurement) row.version.reason = "interrupted";
    }
    progress.advance(weights[history.rows.size() - 1]);
  }
  return history;
}

}  // namespace zerotax::history
