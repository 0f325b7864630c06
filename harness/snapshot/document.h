#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "snapshot/session.h"

namespace zerotax::snapshot {

/// What the runs of `zerotax snapshot` gave, one result for each allocator and alternative.
class SnapshotReport {
 public:
  explicit SnapshotReport(SnapshotPlan plan);

  /// As TakeSnapshot: a failed run ends its allocator and alternative.
  bool take(const SnapshotStep& step, const SnapshotRun& run);

  /// The object of "zerotax.snapshot/1" (results/schema/snapshot.schema.json).
  [[nodiscard]] Json json(bool complete, const std::string& started, const std::vector<std::string>& command,
                          const Json& environment) const;

 private:
  struct Result {
    std::string status;  ///< empty: nothing was run
    std::string reason;
    std::vector<SnapshotRun> timing;  ///< without faults and samples
    Json memory, faults, held_faults, cpu, held_cpu;
    std::int64_t checked_elements = 0;
    bool has_child = false;
  };

  [[nodiscard]] Json result_json(std::size_t allocator, std::size_t alternative) const;
  [[nodiscard]] const Result& at(std::size_t allocator, std::size_t alternative) const;

  SnapshotPlan plan_;
  std::vector<Result> results_;
};

/// The memory that a result needed beyond what was there before the snapshot. Its "memory" must be available.
std::uint64_t added_bytes(const Json& result);

/// Adds to that object, or replaces, what is said of it: `sentence`, how much longer the writers need, at the least and
/// at the most; `notes`, what one has to know to read the figure; and of each result `mark`, what the figure shows of
/// it.
void add_verdict(Json& snapshot);

/// The table for the terminal, from that object: a row per alternative, at most 80 columns, and what was not ok.
std::string snapshot_table(const Json& snapshot);

/// The two answers, from the same object: is the kernel copying, and how to avoid it.
std::string snapshot_answers(const Json& snapshot);

}  // namespace zerotax::snapshot
