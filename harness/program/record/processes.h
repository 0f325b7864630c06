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

/// The reason why the use of a process and its sharers is unknown.
inline constexpr const char* kUnseenSharers =
    "a process that shared its memory (vfork, CLONE_VM) ended unseen, or still runs: what that process used and "
    "populated is unknown";

/// A recorded run as it was seen from within and from outside.
class SeenRun {
 public:
  /// Processes that shared the memory of another (vfork, clone with CLONE_VM). Their use counts as that of the owner.
  struct Sharers {
    std::uint64_t faults = 0;
    std::uint64_t cpu_ns = 0;
    bool bytes_known = true;                       ///< all had left the owner's memory when its counts were closed
    bool faults_known = true;                      ///< the use of all of them is in `faults` and `cpu_ns`
    std::vector<const ProcessCounts*> unreported;  ///< processes whose use only the kernel knew
  };

  SeenRun(RecordArena& arena, const ForegroundResult& run, const RunWatch* watch);

  [[nodiscard]] const std::vector<const ProcessSlot*>& processes() const { return processes_; }
  /// How much the kernel zeroed for a process: exactly, or between bounds. If it ended unseen, the least is the memory
  /// that it held and had returned when it was last looked at; the most is a page for each fault since it began to be
  /// recorded, all that it held then, and whatever anybody on this machine had populated in larger pieces meanwhile.
  [[nodiscard]] const KernelPart& kernel(const ProcessSlot& slot) const { return kernel_.at(&slot); }
  /// The process's PID here; 0 if that is unknown.
  [[nodiscard]] pid_t pid(const ProcessSlot& slot) const { return watch_ != nullptr ? watch_->pid(slot) : slot.pid; }
  [[nodiscard]] const Sharers& sharers(const ProcessSlot& slot) const { return sharers_.at(&slot); }
  /// The use of a process while it shared the memory of another, which counts that use; nothing if it never stopped
  /// sharing.
  [[nodiscard]] std::optional<SharerUse> shared_use(pid_t pid, std::int64_t since_ns, std::int64_t until_ns) const;
  /// CPU time of a process, as far as it was seen; in nanoseconds. `sum`: of its threads.
  [[nodiscard]] std::uint64_t cpu_ns(const ProcessSlot& slot, const Tally& sum) const;

 private:
  [[nodiscard]] Sharers sharers_of(const ProcessSlot& slot) const;
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

/// The programs that ran and recorded nothing, a row for each program and reason: every process that the kernel
/// counted, and whose last program left no recording; where it did not count, those that recorded processes were about
/// to become, or started.
std::vector<NotFollowed> not_followed(const SeenRun& seen, const RecordArena& arena, const ForegroundResult& run,
                                      const RunWatch* watch);

/// What they used together.
NotRecorded not_recorded(const std::vector<NotFollowed>& rows);

}  // namespace zerotax::record
