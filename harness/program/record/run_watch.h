#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/measured.h"
#include "os/cgroup.h"
#include "os/memory.h"
#include "os/process_pagemap.h"
#include "os/task_counts.h"
#include "os/worker.h"
#include "record/arena.h"
#include "record/forks.h"

namespace zerotax::record {

/// Reason why a count of the kernel is unknown.
inline constexpr const char* kNotWatched = "the run was not watched";

/// The kernel's counts for any process of the run, however the process ended.
struct ProcessCounts {
  pid_t pid = 0;
  pid_t parent = 0;
  std::int64_t began_ns = 0;        ///< CLOCK_MONOTONIC
  std::vector<std::int64_t> execs;  ///< times when the process executed another program
  std::string name;  ///< first 15 bytes of the name of the process's last program, or of its parent's name if the
                     ///< process was only forked
  std::vector<std::string> names;  ///< all names that the process had
  bool mapped = true;              ///< whether the process has mapped code since its last exec
  bool rights_changed = false;     ///< whether the last exec changed the rights of the process, so that the kernel
                                   ///< stops counting it and its descendants
  std::optional<std::uint64_t> minor_faults;  ///< faults of the process's ended threads; nothing if the kernel reported
                                              ///< no faults
  std::uint64_t cpu_ns = 0;
  bool ended = false;         ///< whether the first thread of the process, or another thread with counts, has ended
  std::int64_t ended_ns = 0;  ///< time when a thread last ended
};

/// The last sample of a recorded process, usually at most 20 ms old when the process ends.
struct ProcessLook {
  std::uint64_t populated_bytes = 0;  ///< maximum of held and returned memory together
  std::uint64_t held_bytes = 0;       ///< maximum of held memory
  std::uint64_t shared_bytes = 0;     ///< maximum of mapped shared memory
  std::uint64_t copied_bytes = 0;     ///< copied pages of private file mappings, a part of populated_bytes and
                                      ///< held_bytes
  std::uint64_t minor_faults = 0;
  std::int64_t cpu_ns = 0;
};

/// Whether the PID still belongs to the slot's process, and the process still runs the slot's program. The PID may
/// belong to a process of another namespace, or the process may have executed another program.
bool is_still(pid_t pid, const ProcessSlot& head);

/// Watches a recorded run by the kernel's counts and samples. The watch also counts processes that cannot record
/// everything themselves, because they are killed, end with a system call of their own, or never load the recorder.
class RunWatch {
 public:
  /// Starts watching. The calling thread starts the program next.
  explicit RunWatch(const RecordArena& arena);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  /// Takes a last sample. Call this after the program has ended, and call the functions below after this.
  void stop();

  /// Whether every process and every fault was counted; false if perf events are denied, or limited to user mode.
  [[nodiscard]] bool exact() const { return exact_; }
  /// Whether processes were counted at all.
  [[nodiscard]] bool counted() const { return counted_; }
  /// Bytes that all processes of this machine populated during the run in pieces larger than a page, or nothing if
  /// these bytes are unknown.
  [[nodiscard]] std::optional<std::uint64_t> huge_bytes() const { return huge_bytes_; }
  /// Time for which a CPU quota stopped the control group of the run, in nanoseconds.
  [[nodiscard]] const Measured<std::uint64_t>& throttled_ns() const { return throttled_ns_; }
  /// Number of times that a thread of the machine waited for compaction of memory.
  [[nodiscard]] Measured<std::uint64_t> compaction_stalls() const {
    return {compaction_stalls_, "/proc/vmstat has no compact_stall"};
  }
  /// Time during which a thread of the machine waited for memory, in nanoseconds (memory_wait_ns()).
  [[nodiscard]] Measured<std::uint64_t> memory_waits_ns() const {
    return {memory_waits_ns_, "/proc/pressure/memory cannot be read"};
  }
  /// Counts of the processes that the program and its descendants started.
  [[nodiscard]] Measured<ForkCounts> forks() const {
    return known_if(counted_, forks_, "the kernel does not count this user's processes");
  }
  /// Counts of the processes, in the order of their start.
  [[nodiscard]] const std::vector<ProcessCounts>& processes() const { return processes_; }
  /// Returns the kernel's counts of a slot's process. If the slot's PID belongs to another namespace, the name and
  /// start of the process identify it.
  [[nodiscard]] const ProcessCounts* counts(const ProcessSlot& slot) const;
  /// Returns the PID, in zerotax's namespace, of a slot's process; 0 if it is unknown.
  [[nodiscard]] pid_t pid(const ProcessSlot& slot) const;
  /// Returns the last sample of a slot's process, or nothing if the process ended before it was sampled.
  [[nodiscard]] std::optional<ProcessLook> last_look(const ProcessSlot& slot) const;

 private:
  void run();
  /// Ends the thread of the watch. Returns false if the thread had already ended.
  bool end_thread();
  void read_counts();
  void look_at_heads();
  void note(const TaskEvent& event);
  ProcessCounts& process(pid_t pid);
  ProcessCounts& begin(pid_t pid);

  const RecordArena& arena_;
  std::optional<TaskCounts> counts_;
  std::optional<std::uint64_t> huge_bytes_;
  Throttling throttling_{::getpid()};
  Measured<std::uint64_t> throttled_ns_;
  std::optional<std::uint64_t> compaction_stalls_ = read_vm_events().compaction_stalls;
  std::optional<std::uint64_t> memory_waits_ns_ = memory_wait_ns();
  ForkCounts forks_;
  bool counted_ = false;
  bool exact_ = false;
  std::vector<TaskEvent> events_;
  std::vector<ProcessCounts> processes_;
  std::map<pid_t, std::vector<std::size_t>> by_pid_;  ///< indices in processes_; the last index is the process that has
                                                      ///< the PID now
  using SlotKey = std::pair<std::uint64_t, pid_t>;    ///< PID namespace, and PID in that namespace
  /// A slot of the arena. `over`: the slot's process has ended.
  struct Head {
    const ProcessSlot* slot = nullptr;
    bool over = false;
  };
  bool look_at(const ProcessSlot& head);
  [[nodiscard]] bool is_elsewhere(const ProcessSlot& slot) const;
  void claim(const ProcessSlot& head);
  std::uint64_t pid_namespace_ = 0;
  std::map<SlotKey, std::size_t> claimed_;  ///< index in processes_ of each sampled slot
  std::vector<Head> heads_;
  ProcessPagemaps pagemaps_;
  std::map<std::pair<pid_t, std::int64_t>, ProcessLook> looks_;  ///< samples by PID and start of the process
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  Worker thread_;
};

}  // namespace zerotax::record
