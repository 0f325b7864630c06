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
    std::vector<SnapshotRun> timing;       ///< without faults and samples
    std::vector<SnapshotRun> held_timing;  ///< and the writers held until the child had ended
    Json memory, faults, held_faults, cpu, held_cpu, cpu_time;
    std::int64_t checked_elements = 0;
    bool takes_snapshot = false;
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
/// at the most; `contradiction`, if runs of the same took very different times; `loss`, if faults were lost; `notes`,
/// what one has to know to read the figure; of each result `mark`, what the figure shows of it, and `remedy`; and
/// `advice`.
void add_verdict(Json& snapshot);

/// The alternative that a result's is a remedy of; empty if it is none.
std::string remedied_alternative(const Json& snapshot, const Json& result);

/// What a remedy moves and saves: an object of "remedy" in results/schema/snapshot.schema.json. n/a for what is no
/// remedy, or where it or the alternative that it is a remedy of was not measured. `results`: of all alternatives.
Json remedy_json(const Json& snapshot, const Json& result);

/// What to do instead of the alternative that one has, of each allocator: an array of "advice" in the schema. Nothing
/// is recommended but what was measured and found better; otherwise `next` names commands that measure more.
Json advice_json(const Json& snapshot);

/// What is said of counts of faults that are too low; `lost`: whose, with what was lost. Empty if nothing was.
std::string loss_text(const std::vector<std::string>& lost);

/// Whether a snapshot was taken, checked, and timed.
bool took_snapshot(const Json& result);

/// The table for the terminal, from that object: a row per alternative, at most 80 columns, and what was not ok.
std::string snapshot_table(const Json& snapshot);

/// The two answers, from the same object: is the kernel copying, and how to avoid it.
std::string snapshot_answers(const Json& snapshot);

}  // namespace zerotax::snapshot
