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
#include "os/process_pagemap.h"
#include "os/task_counts.h"
#include "os/worker.h"
#include "record/arena.h"

namespace zerotax::record {

/// What the kernel counted for one process, whatever it was and however it ended.
struct ProcessCounts {
  pid_t pid = 0;
  pid_t parent = 0;
  std::int64_t began_ns = 0;        ///< CLOCK_MONOTONIC
  std::vector<std::int64_t> execs;  ///< when it became another program
  std::string name;  ///< the first 15 bytes of the last one's; its parent's where it is a child of fork alone
  std::vector<std::string> names;  ///< all names that it had
  bool mapped = true;              ///< it has mapped code since its last exec
  bool rights_changed = false;     ///< by its last exec: the kernel counts neither this program nor what it starts
  std::optional<std::uint64_t> minor_faults;  ///< of its threads that ended; nothing if the kernel said none
  std::uint64_t cpu_ns = 0;
  bool ended = false;         ///< its first thread ended, or another thread with counts
  std::int64_t ended_ns = 0;  ///< time of the last such end
};

/// The last look at a recorded process, some 20 ms before its end at most.
struct ProcessLook {
  std::uint64_t populated_bytes = 0;  ///< the most that it held and had returned
  std::uint64_t held_bytes = 0;       ///< the most that it held
  std::uint64_t shared_bytes = 0;     ///< the most that it had mapped of shared memory
  std::uint64_t copied_bytes = 0;     ///< of populated_bytes and held_bytes: copies of pages of private file mappings
  std::uint64_t minor_faults = 0;
  std::int64_t cpu_ns = 0;
};

/// Watches a recorded run from outside: what of a process cannot be known by itself, as it is killed, or ends by a
/// system call of its own, or never loads the recorder.
class RunWatch {
 public:
  /// The calling thread starts the program next.
  explicit RunWatch(const RecordArena& arena);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  /// The program has ended: looks a last time. Call the functions below after this.
  void stop();

  /// Whether every process was counted, and every fault of it: not so where perf events are denied, or limited to user
  /// mode.
  [[nodiscard]] bool exact() const { return exact_; }
  /// Whether processes were counted at all.
  [[nodiscard]] bool counted() const { return counted_; }
  /// What all processes of this machine had populated in pieces larger than a page meanwhile; nothing if nobody knows.
  [[nodiscard]] std::optional<std::uint64_t> huge_bytes() const { return huge_bytes_; }
  /// The time for which a CPU quota stopped the control group of the run, in nanoseconds.
  [[nodiscard]] const Measured<std::uint64_t>& throttled_ns() const { return throttled_ns_; }
  /// In the order of their beginning.
  [[nodiscard]] const std::vector<ProcessCounts>& processes() const { return processes_; }
  /// The kernel's counts of a slot's process. If its PID belongs to another namespace, its name and start identify it.
  [[nodiscard]] const ProcessCounts* counts(const ProcessSlot& slot) const;
  /// The PID here of a slot's process; 0 if it is unknown.
  [[nodiscard]] pid_t pid(const ProcessSlot& slot) const;
  /// Nothing if it ended before it could be looked at.
  [[nodiscard]] std::optional<ProcessLook> last_look(const ProcessSlot& slot) const;

 private:
  void run();
  /// Returns false if the thread had ended before.
  bool end_thread();
  void look();
  void look_at_heads();
  void note(const TaskEvent& event);
  ProcessCounts& process(pid_t pid);
  ProcessCounts& begin(pid_t pid);

  const RecordArena& arena_;
  std::optional<TaskCounts> counts_;
  std::optional<std::uint64_t> huge_bytes_;
  Throttling throttling_{::getpid()};
  Measured<std::uint64_t> throttled_ns_;
  bool counted_ = false;
  bool exact_ = false;
  std::vector<TaskEvent> events_;
  std::vector<ProcessCounts> processes_;
  std::map<pid_t, std::vector<std::size_t>> by_pid_;  ///< the last index is the process that has the PID now
  using SlotKey = std::pair<std::uint64_t, pid_t>;    ///< PID namespace, and PID in it
  /// A slot of the arena. `over`: its process has ended.
  struct Head {
    const ProcessSlot* slot = nullptr;
    bool over = false;
  };
  bool look_at(const ProcessSlot& head);
  [[nodiscard]] bool is_elsewhere(const ProcessSlot& slot) const;
  void claim(const ProcessSlot& head);
  std::uint64_t pid_namespace_ = 0;
  std::map<SlotKey, std::size_t> claimed_;  ///< the index in processes_ of the slots that were looked at
  std::vector<Head> heads_;
  ProcessPagemaps pagemaps_;
  std::map<std::pair<pid_t, std::int64_t>, ProcessLook> looks_;  ///< by PID and beginning
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  Worker thread_;
};

}  // namespace zerotax::record
