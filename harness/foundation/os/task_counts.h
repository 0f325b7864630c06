#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/perf_streams.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Something that the kernel said of a process whose counts are taken.
struct TaskEvent {
  enum class Kind {
    kFork,  ///< `pid` was forked from `parent`
    kExec,  ///< it became another program: `name`
    kMap,   ///< it mapped code. Without a kMap between kExec and kEnd, the exec changed the rights of the process: its
            ///< counts ended there, and the process still runs (os/page_counts.h).
    kCounts,  ///< a thread of it ended, and had so many minor faults and nanoseconds of CPU time on one CPU
    kEnd      ///< its first thread ended
  };
  Kind kind = Kind::kFork;
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;  ///< the first 15 bytes of the program's
  std::uint64_t minor_faults = 0;
  std::uint64_t cpu_ns = 0;
};

/// Minor faults and CPU time of each process that the calling thread's next child, once it has become another program,
/// starts: from outside, whatever the process does and however it ends. Counted, not sampled: the kernel adds each
/// thread's counts to a buffer when it ends (perf_event_open(2), inherit_stat and PERF_RECORD_READ). Some kernels do
/// not (Linux 6.1 and 6.12 among them, not 5.10 and 6.18): there is then no kCounts.
class TaskCounts {
 public:
  /// Never throws: see `why_not`. An event for each CPU, as those that are inherited need.
  TaskCounts();
  TaskCounts(const TaskCounts&) = delete;
  TaskCounts& operator=(const TaskCounts&) = delete;

  /// Why nothing is counted; empty if it is.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// Whether faults that the kernel itself takes for a process (a read into fresh memory) count too: an ordinary user
  /// has those in user mode alone, with kernel.perf_event_paranoid at 2.
  [[nodiscard]] bool whole() const { return whole_; }
  /// Adds what happened since the last call, in no order between CPUs. One thread at a time.
  void read(std::vector<TaskEvent>& events);
  /// Records that were lost because nobody read them in time.
  [[nodiscard]] std::uint64_t lost() const { return streams_ ? streams_->lost() : 0; }

 private:
  enum class Source : unsigned { kFaults, kCpu };
  void keep_apart();
  void open(bool whole);

  UniqueFd apart_;
  bool whole_ = true;
  std::string why_not_;
  std::optional<PerfStreams> streams_;
};

}  // namespace zerotax
