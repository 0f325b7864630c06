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

#include "observe/running_process.h"
#include "os/process_info.h"
#include "os/worker.h"

namespace zerotax::record {

/// A process as /proc shows it while it runs.
struct HeldProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string executable;
  std::vector<std::string> words;  ///< its command line
  std::uint64_t earlier = 0;       ///< bytes by which programs that it was before may have grown
  bool forked = false;             ///< it runs its parent's program
  bool shares = false;             ///< it has its parent's memory (vfork, clone(2) with CLONE_VM alone)
  bool ended = false;
  bool hugetlb = false;       ///< it had pages of hugetlbfs
  std::int64_t first_ns = 0;  ///< CLOCK_MONOTONIC, of the first and the last look
  std::int64_t last_ns = 0;
  std::int64_t user_ns = 0;  ///< CPU time between them, by ticks
  std::int64_t system_ns = 0;
  std::uint64_t faults = 0;         ///< minor ones, between the two looks
  std::uint64_t looked_faults = 0;  ///< of `faults`: by the last look that found its memory
  // Anonymous memory, swapped pages among it, in bytes.
  std::uint64_t held = 0;           ///< at the last look
  std::uint64_t begin = 0;          ///< at the first one
  std::uint64_t peak = 0;           ///< the most that was seen
  std::uint64_t shared = 0;         ///< the most resident shared memory that was seen
  std::uint64_t grown = 0;          ///< bytes by which the peak has risen, at least
  std::uint64_t grown_at_most = 0;  ///< the same at most, if the peak was higher between two looks
  double growing = 1;  ///< of what its last faults before the last look populated, the part that was growth
};

/// Looks at what processes and their descendants hold, again and again, in a thread of its own. From outside a refill
/// is what was zeroed beyond the growth of that, so the looks come the oftener the shorter the run is: one part in
/// 200 of it goes by between two of them, or more where looking would take more than it may. They stop nobody:
/// /proc/PID/status and stat take no lock of the process's memory.
class HoldingsWatch {
 public:
  /// Of processes that run already. `joined`: called in the watch's thread, returns others that are to be watched from
  /// now on; without it, what they start is.
  using Joined = std::function<std::vector<pid_t>()>;
  explicit HoldingsWatch(const std::vector<pid_t>& processes, Joined joined = {});
  /// Of the next child of ours, once it runs another program than we do.
  HoldingsWatch();
  ~HoldingsWatch();
  HoldingsWatch(const HoldingsWatch&) = delete;
  HoldingsWatch& operator=(const HoldingsWatch&) = delete;

  /// Looks a last time. Once.
  void finish();
  /// Of each process, by its PID.
  [[nodiscard]] const std::map<pid_t, HeldProcess>& processes() const { return processes_; }
  /// CPU time of all since the beginning, of children that were waited for, too.
  [[nodiscard]] const TreeClock& clock() const { return clock_; }

  /// The time between two looks in which the peak of a process rose.
  struct Growth {
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;
    std::uint64_t bytes = 0;
  };
  /// Those of a watched process, in the order of time; nothing for another. Complete up to looked_ns(). From any
  /// thread.
  [[nodiscard]] std::optional<std::vector<Growth>> growths(pid_t pid) const;
  [[nodiscard]] std::uint64_t looked_ns() const { return looked_ns_; }

 private:
  struct Watched {
    std::uint64_t faults_before = 0;
    std::int64_t user_before_ns = 0;
    std::int64_t system_before_ns = 0;
    std::uint64_t others = 0;       ///< resident bytes of files at the last look
    std::uint64_t start_stack = 0;  ///< of its program (ProcessFacts)
    std::int64_t memory_ns = 0;     ///< CLOCK_MONOTONIC, of the last look that found its memory
    std::uint64_t peak_at_most = 0;
    std::uint64_t base = 0;          ///< held when the present program began, at least
    std::uint64_t base_at_most = 0;  ///< the same at most: a child may return inherited memory before a look
    std::uint64_t grown_before = 0;
    std::uint64_t grown_at_most_before = 0;
    std::array<std::pair<std::uint64_t, std::uint64_t>, 2>
        marks{};                      ///< earlier faults and growth: at least a fifth ago
    bool huge = false;                ///< it has huge pages: a fault populated more than a page
    std::uint64_t resident_peak = 0;  ///< as the kernel kept it, at the last look
    std::vector<Growth> growths;
  };

  void work();
  void look();
  void look_at(HeldProcess& process, Watched& watched, std::int64_t now);
  static void note_exec(HeldProcess& process, Watched& watched, std::uint64_t old_bytes);
  static void note_trend(HeldProcess& process, Watched& watched);
  static void note_memory(HeldProcess& process, Watched& watched, const ResidentParts& parts,
                          const ProcessFacts& facts);
  void begin(pid_t pid, pid_t parent, bool ran_before);
  void find_children();
  void find_descendants();
  void find_joined();

  std::int64_t looking_share_ = 0;  ///< looking takes one part in so many of a CPU, at most
  bool wait_for_child_ = false;
  Joined joined_;
  std::uint64_t began_ticks_ = 0;  ///< since boot
  std::map<pid_t, HeldProcess> processes_;
  std::map<pid_t, Watched> watched_;
  TreeClock clock_;
  std::int64_t began_ns_ = 0;
  std::int64_t children_due_ns_ = 0;
  std::atomic<std::uint64_t> looked_ns_ = 0;
  mutable std::mutex mutex_;
  std::atomic<bool> done_ = false;
  Worker thread_;
};

}  // namespace zerotax::record
