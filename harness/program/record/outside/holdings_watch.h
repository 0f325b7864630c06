#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/measured.h"
#include "observe/running_process.h"
#include "os/process_info.h"
#include "os/task_counts.h"
#include "os/worker.h"
#include "record/forks.h"

namespace zerotax::record {

/// A process as /proc shows it while it runs.
struct HeldProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string executable;
  std::vector<std::string> words;  ///< words of the command line
  std::uint64_t earlier = 0;       ///< maximum growth in bytes under programs that this process ran before
  bool forked = false;             ///< whether the process runs its parent's program
  bool shares = false;             ///< whether the process shares its parent's memory (vfork, clone(2) with CLONE_VM
                                   ///< alone)
  bool ended = false;
  bool hugetlb = false;       ///< whether the process had pages of hugetlbfs
  std::int64_t first_ns = 0;  ///< time of the first sample (CLOCK_MONOTONIC)
  std::int64_t last_ns = 0;
  std::int64_t user_ns = 0;  ///< CPU time between the first and the last sample, at the resolution of ticks
  std::int64_t system_ns = 0;
  std::uint64_t faults = 0;         ///< minor faults between the first and the last sample
  std::uint64_t looked_faults = 0;  ///< the part of `faults` before the last sample that could read the memory
  // Anonymous memory in bytes, including swapped pages.
  std::uint64_t held = 0;           ///< bytes at the last sample
  std::uint64_t begin = 0;          ///< bytes at the first sample
  std::uint64_t peak = 0;           ///< maximum bytes of all samples
  std::uint64_t shared = 0;         ///< maximum resident shared memory of all samples
  std::uint64_t grown = 0;          ///< lower bound of the rise of the peak in bytes
  std::uint64_t grown_at_most = 0;  ///< upper bound of the rise, because the peak may be higher between two samples
  double growing = 1;               ///< fraction of the most recently populated bytes that was growth
};

/// Samples the memory of processes and their descendants in a separate thread. In a recording from outside, refilled
/// bytes are the zeroed bytes beyond the growth of the memory. A short run needs more samples per second. The pause
/// between two samples is 1/200 of the time of the run so far, or longer if sampling would exceed its share of a CPU.
/// Sampling stops no process, because reading /proc/PID/status and stat takes no lock of the process's memory.
class HoldingsWatch {
 public:
  /// Watches running processes. `joined` is called in the watch's thread, and returns further processes to watch.
  /// Without `joined`, the descendants are watched.
  using Joined = std::function<std::vector<pid_t>()>;
  explicit HoldingsWatch(const std::vector<pid_t>& processes, Joined joined = {});
  /// Watches the next child of this process, as soon as that child runs a program other than zerotax.
  HoldingsWatch();
  ~HoldingsWatch();
  HoldingsWatch(const HoldingsWatch&) = delete;
  HoldingsWatch& operator=(const HoldingsWatch&) = delete;

  /// Takes a last sample. Call this once.
  void finish();
  /// The watched processes, by PID.
  [[nodiscard]] const std::map<pid_t, HeldProcess>& processes() const { return processes_; }
  /// CPU time of all watched processes since the beginning, including children that were waited for.
  [[nodiscard]] const TreeClock& clock() const { return clock_; }

  /// Counts of the processes that a command and its descendants started.
  [[nodiscard]] Measured<ForkCounts> forks() const;

  /// An interval between two samples in which the peak of a process rose.
  struct Growth {
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;
    std::uint64_t bytes = 0;
  };
  /// Returns the growths of a watched process in the order of time, or nothing for another process. All growths up to
  /// looked_ns() are included. May be called in any thread.
  [[nodiscard]] std::optional<std::vector<Growth>> growths(pid_t pid) const;
  [[nodiscard]] std::uint64_t looked_ns() const { return looked_ns_; }

 private:
  struct Watched {
    std::uint64_t faults_before = 0;
    std::int64_t user_before_ns = 0;
    std::int64_t system_before_ns = 0;
    std::uint64_t others = 0;       ///< resident bytes of files at the last sample
    std::uint64_t start_stack = 0;  ///< address of the program's stack (ProcessFacts)
    std::int64_t memory_ns = 0;     ///< time of the last sample that could read the memory (CLOCK_MONOTONIC)
    std::uint64_t peak_at_most = 0;
    std::uint64_t base = 0;          ///< lower bound of the bytes held when the present program began
    std::uint64_t base_at_most = 0;  ///< upper bound of `base`: before a sample, a child may return inherited memory
    std::uint64_t grown_before = 0;
    std::uint64_t grown_at_most_before = 0;
    std::array<std::pair<std::uint64_t, std::uint64_t>, 2> marks{};  ///< two earlier pairs of faults and growth; at
                                                                     ///< least a fifth of all faults came after the
                                                                     ///< first pair
    bool huge = false;                ///< whether the process has huge pages, so that a fault may populate more than a
                                      ///< small page
    std::uint64_t resident_peak = 0;  ///< maximum resident memory that the kernel reported at the last sample
    std::vector<Growth> growths;
  };

  void work();
  void look();
  void look_at(HeldProcess& process, Watched& watched, std::int64_t now);
  static void note_exec(HeldProcess& process, Watched& watched, std::uint64_t old_bytes);
  static void note_trend(HeldProcess& process, Watched& watched);
  static void note_memory(HeldProcess& process, Watched& watched, const ResidentParts& parts, const ProcessFacts& facts,
                          std::uint64_t faults_after);
  void begin(pid_t pid, pid_t parent, bool ran_before);
  void find_children();
  void find_descendants();
  void find_joined();

  std::int64_t looking_share_ = 0;  ///< sampling takes at most 1/looking_share_ of a CPU
  bool wait_for_child_ = false;
  Joined joined_;
  std::uint64_t began_ticks_ = 0;  ///< time when the watch began, in ticks since boot
  std::map<pid_t, HeldProcess> processes_;
  std::map<pid_t, Watched> watched_;
  TreeClock clock_;
  std::optional<TaskCounts> tasks_;  ///< only for a command
  ForkCounts forks_;
  std::int64_t began_ns_ = 0;
  std::int64_t children_due_ns_ = 0;
  std::atomic<std::uint64_t> looked_ns_ = 0;
  mutable std::mutex mutex_;
  std::atomic<bool> done_ = false;
  Worker thread_;
};

}  // namespace zerotax::record
