#include "bisect/run.h"

#include <fmt/format.h>

#include "run/experiment.h"

namespace zerotax::bisect {
namespace {

/// Of what has to be built; a version that is known costs next to nothing.
constexpr double kWork = 1;
constexpr double kReading = 0.01;

/// The row before this one that was measured, or nullptr.
Row* measured_before(std::vector<Row>& rows, std::size_t row) {
  for (std::size_t i = row; i-- > 0;) {
    if (rows[i].version.measurement) return &rows[i];
  }
  return nullptr;
}

}  // namespace

History run_history(const Versions& versions, const std::vector<Commit>& commits, const Grid& grid,
                    const MeasuredVersions& measured) {
  const auto& known = measured.by_commit;
  History history;
  history.environments = measured.environments;
  std::vector<Item> items;
  for (const Commit& commit : commits) {
    Row& row = history.rows.emplace_back();
    const auto found = known.find(commit.id);
    const bool is_built = found != known.end();
    if (is_built) row.version = found->second;
    row.version.commit = commit;
    Item& item = items.emplace_back();
    item.label = commit.name();
    item.seconds = is_built || versions.is_known(commit, grid) ? kReading : kWork;
    item.measure = [&, is_built, at = items.size() - 1](const Say& say) {
      Row& current = history.rows[at];
      const auto watch = [&](const char* what) { say(fmt::format("{} {}", what, commit.name())); };
      if (!is_built) current.version = versions.measured(commit, grid, watch);
      Row* before = measured_before(history.rows, at);
      if (before == nullptr || !current.version.measurement) return;
      current.compared_with = before->version.commit.name();
      current.difference = difference_between(versions, before->version, current.version, grid, watch);
    };
  }
  history.complete = Experiment("versions").run(items);
  for (std::size_t i = 0; i < history.rows.size() && !history.complete; ++i) {
    Row& row = history.rows[i];
    if (row.version.state == Version::State::kNotMeasured) row.version.reason = "interrupted";
    const Row* before = measured_before(history.rows, i);
    if (before != nullptr && row.version.measurement) row.compared_with = before->version.commit.name();
  }
  return history;
}

}  // namespace zerotax::bisect
