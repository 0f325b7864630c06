#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/perf_event.h"
#include "os/perf_streams.h"
#include "os/trace_event.h"
#include "os/unique_fd.h"

namespace zerotax {

/// A report from the kernel about a counted process.
struct TaskEvent {
  enum class Kind {
    kFork,    ///< `pid` was forked from `parent`
    kFlags,   ///< `parent` called clone(2) with `clone_flags`. Only root gets these events, after any kFork, and also
              ///< for processes that are not counted.
    kExec,    ///< the process executed another program, `name`
    kMap,     ///< the process mapped code. If no kMap comes between kExec and kEnd, the exec changed the rights of the
              ///< process. Its counts then ended at the exec, while the process still runs (os/page_counts.h).
    kCounts,  ///< a thread ended, with its minor faults and nanoseconds of CPU time on one CPU
    kEnd      ///< the first thread ended
  };
  Kind kind = Kind::kFork;
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;  ///< first 15 bytes of the program's name
  std::uint64_t minor_faults = 0;
  std::uint64_t cpu_ns = 0;
  std::uint64_t clone_flags = 0;
};

/// Counts minor faults and CPU time of the calling thread's next child, from its exec on, and of each process that this
/// child starts. The kernel counts, whatever the processes do and however they end. Counts are exact, not sampled: the
/// kernel writes each thread's counts to a buffer when the thread ends (perf_event_open(2), inherit_stat and
/// PERF_RECORD_READ). Some kernels do not write these counts (Linux 6.1 and 6.12 among them, but not 5.10 and 6.18). On
/// these kernels, no kCounts events are reported.
class TaskCounts {
 public:
  /// Opens one event per CPU, because a buffer of an inherited event must belong to one CPU. Never throws: see
  /// `why_not`. A process that is forked and ends takes about 150 bytes of the buffer, and 160 bytes per CPU.
  /// `buffer_bytes`: size of the buffer.
  explicit TaskCounts(std::size_t buffer_bytes = kUserPerfBufferBytes);
  TaskCounts(const TaskCounts&) = delete;
  TaskCounts& operator=(const TaskCounts&) = delete;

  /// Returns why nothing is counted, or "" if counting works.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// Whether counts include faults that the kernel itself takes for a process, as when read(2) stores into fresh
  /// memory. With kernel.perf_event_paranoid at 2, an ordinary user can only count faults in user mode.
  [[nodiscard]] bool whole() const { return whole_; }
  /// Appends the events since the last call, unsorted between CPUs. Only one thread may call this function at a time.
  void read(std::vector<TaskEvent>& events);
  /// Returns the number of records that were lost because they were not read in time.
  [[nodiscard]] std::uint64_t lost() const { return streams_ ? streams_->lost() : 0; }

 private:
  enum class Source : unsigned { kFaults, kCpu, kNewTasks };
  void keep_apart();
  void open(bool whole, std::size_t buffer_bytes);
  void open_new_tasks();
  void read_new_task(PerfRecordReader& reader, std::vector<TaskEvent>& events) const;

  UniqueFd apart_;
  bool whole_ = true;
  std::string why_not_;
  std::optional<TraceEvent> new_task_;  ///< the tracepoint task:task_newtask, if it is available
  std::optional<PerfStreams> streams_;
};

}  // namespace zerotax
