#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/perf_event.h"
#include "os/perf_streams.h"
#include "os/trace_event.h"
#include "os/unique_fd.h"

namespace zerotax {

/// A kind of kernel event: a tracepoint, or the switch of a processor from one thread to another.
struct KernelEventKind {
  std::string name;                      ///< "sched:sched_wakeup", "switches"
  std::optional<TraceEvent> tracepoint;  ///< the tracepoint; empty for switches, which ordinary users may see for their
                                         ///< own threads
};

/// Returns the tracepoint with this name in perf's notation, such as "sched:sched_wakeup". Returns nothing if it does
/// not exist, or if tracepoints cannot be read.
std::optional<KernelEventKind> find_tracepoint(const std::string& name);
/// Returns the tracepoint with this name, or throws MachineError if it is not found.
KernelEventKind require_tracepoint(const std::string& name);

/// One occurrence of a kernel event.
struct KernelEvent {
  std::size_t kind = 0;       ///< index in the list given to KernelEvents
  std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  pid_t pid = 0;              ///< process that the processor was running
  pid_t tid = 0;
  std::vector<unsigned char> raw;  ///< fields of a tracepoint
  bool out = false;                ///< switch: whether the thread left the processor; false if it came back
  bool preempted = false;          ///< switch: whether the leaving thread could have continued
};

/// Reads kernel events that occur while a program, or anything that the program starts, is running. Uses perf
/// (perf_event_open(2): PERF_TYPE_TRACEPOINT, and PERF_RECORD_SWITCH). An event belongs to the thread that was running,
/// even if an interrupt or another thread's work caused the event.
class KernelEvents {
 public:
  /// Watches the program that the calling thread execs next (as a child), from its exec on. Throws MachineError with
  /// the reason, for example that only root may use tracepoints.
  explicit KernelEvents(std::vector<KernelEventKind> kinds);
  /// Watches one running thread from now on. Threads and processes that the thread starts are not followed, so that its
  /// forks do no extra work.
  KernelEvents(std::vector<KernelEventKind> kinds, pid_t thread);

  /// Appends the events since the last call, unsorted between CPUs. Only one thread may call this function at a time.
  void read(std::vector<KernelEvent>& events);
  /// Returns the number of events that were lost because they were not read in time.
  [[nodiscard]] std::uint64_t lost() const { return streams_.lost(); }

 private:
  void open(std::size_t kind, pid_t thread, int cpu);

  std::vector<KernelEventKind> kinds_;
  PerfStreams streams_;
};

/// Samples the kernel's work for a thread that stays on one CPU, by the software event cpu-clock (perf_event_open(2))
/// at equal intervals. For root, the CPU is sampled, so that the thread itself has no perf event and its forks do no
/// extra work. For other users, the thread is sampled. Sampling a thread needs kernel.perf_event_paranoid of 1 or less.
/// Children are never followed.
class KernelSampler {
 public:
  /// Takes a sample every `period_ns` from now on. Throws MachineError if sampling is unavailable or not permitted, or
  /// if the thread may run on several CPUs.
  KernelSampler(pid_t tid, std::uint64_t period_ns);
  KernelSampler(const KernelSampler&) = delete;
  KernelSampler& operator=(const KernelSampler&) = delete;

  /// Stops sampling.
  void stop();
  /// Appends the kernel addresses of each sample since the last call, innermost first. A sample in user mode has none.
  void read(std::vector<std::vector<std::uint64_t>>& stacks);
  [[nodiscard]] std::uint64_t lost() const { return buffer_.front().lost(); }
  /// Whether the CPU is sampled rather than the thread.
  [[nodiscard]] bool samples_cpu() const { return samples_cpu_; }

 private:
  pid_t tid_;
  bool samples_cpu_ = false;
  UniqueFd fd_;
  std::vector<PerfBuffer> buffer_;  ///< one buffer; empty until the buffer is mapped
};

}  // namespace zerotax
