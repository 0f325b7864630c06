#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "os/foreground.h"
#include "record/arena.h"
#include "record/kernel_part.h"
#include "record/run_watch.h"

namespace zerotax::record {

/// Reason why the CPU time and faults of a process and its sharers are unknown.
inline constexpr const char* kUnseenSharers =
    "a process that shared its memory (vfork, CLONE_VM) ended unseen, or still runs: the CPU time, faults and "
    "memory of that process are unknown";

/// Reason why the memory and faults of a process and its children are unknown.
inline constexpr const char* kUnseenChildren =
    "a child of fork that had not allocated memory was killed, or still runs: its CPU time, faults and memory are "
    "unknown";

/// A recorded run, from the data of the recording library and of the kernel.
class SeenRun {
 public:
  /// Processes that shared the memory of another process (vfork, clone with CLONE_VM). CPU time and faults of these
  /// sharers count for the memory's owner.
  struct Sharers {
    std::uint64_t faults = 0;
    std::uint64_t cpu_ns = 0;
    bool bytes_known = true;                       ///< whether all sharers had left the owner's memory when the owner's
                                                   ///< counts were closed
    bool faults_known = true;                      ///< whether `faults` and `cpu_ns` include all sharers
    std::vector<const ProcessCounts*> unreported;  ///< sharers that only the kernel counted
    /// Ended quiet children that the kernel counted. `faults` and `cpu_ns` include children that recorded their end.
    std::vector<const ProcessCounts*> quiet;
    bool children_known = true;                  ///< whether all quiet children recorded their end
    std::optional<std::uint64_t> unseen_faults;  ///< maximum faults of the other quiet children, if known
  };

  SeenRun(RecordArena& arena, const ForegroundResult& run, const RunWatch* watch);

  [[nodiscard]] const std::vector<const ProcessSlot*>& processes() const { return processes_; }
  /// The bytes that the kernel zeroed for a process, exactly or between bounds. If the end of the process was not
  /// recorded, the lower bound is the memory held at the last sample, plus the memory returned. The upper bound is the
  /// sum of three parts: a page for each fault since the recording began; all memory that the process held at that
  /// time; and larger pieces that any process on this machine populated during the run.
  [[nodiscard]] const KernelPart& kernel(const ProcessSlot& slot) const { return kernel_.at(&slot); }
  /// PID of the process in zerotax's namespace; 0 if it is unknown.
  [[nodiscard]] pid_t pid(const ProcessSlot& slot) const { return watch_ != nullptr ? watch_->pid(slot) : slot.pid; }
  [[nodiscard]] const Sharers& sharers(const ProcessSlot& slot) const { return sharers_.at(&slot); }
  /// Faults and CPU time of a process while it shared the memory of another process, which includes them in its own
  /// counts. Nothing if the process never stopped sharing.
  [[nodiscard]] std::optional<SharerUse> shared_use(pid_t pid, std::int64_t since_ns, std::int64_t until_ns) const;
  /// Returns the known CPU time of a process in nanoseconds. `sum` is the sum of the process's threads.
  [[nodiscard]] std::uint64_t cpu_ns(const ProcessSlot& slot, const Tally& sum) const;

 private:
  [[nodiscard]] Sharers sharers_of(const ProcessSlot& slot) const;
  /// Whether a process that the kernel counted has a slot.
  [[nodiscard]] bool is_recorded(const ProcessCounts& counted) const;
  void find_quiet(const ProcessSlot& slot, Sharers& sharers) const;
  [[nodiscard]] KernelPart kernel_of(const ProcessSlot& slot) const;
  [[nodiscard]] const ProcessCounts* counts(const ProcessSlot& slot) const {
    return watch_ != nullptr ? watch_->counts(slot) : nullptr;
  }
  [[nodiscard]] static std::uint64_t at_open_bytes(const ProcessSlot& slot);
  [[nodiscard]] const ProcessSlot* before(const ProcessSlot& slot) const;
  [[nodiscard]] const ProcessSlot* after(const ProcessSlot& slot) const;
  [[nodiscard]] std::uint64_t faults_before(const ProcessSlot& slot) const;
  [[nodiscard]] std::optional<std::uint64_t> faults_by_the_end(const ProcessSlot& slot) const;
  [[nodiscard]] bool is_last(const ProcessSlot& slot) const;

  const RecordArena& arena_;
  const RunWatch* watch_;
  std::vector<const ProcessSlot*> processes_;
  const ForegroundResult& run_;
  std::map<const ProcessSlot*, Sharers> sharers_;
  std::map<const ProcessSlot*, KernelPart> kernel_;
};

/// Returns the programs that ran and recorded nothing, with one row for each program and reason. The rows cover all
/// processes that the kernel counted and whose last program left no recording. If the kernel's counts are unavailable,
/// the rows are the programs that recorded processes were about to exec or spawn.
std::vector<NotFollowed> not_followed(const SeenRun& seen, const RecordArena& arena, const ForegroundResult& run,
                                      const RunWatch* watch);

/// Returns the processes, faults and CPU time of all rows together.
NotRecorded not_recorded(const std::vector<NotFollowed>& rows);

}  // namespace zerotax::record
