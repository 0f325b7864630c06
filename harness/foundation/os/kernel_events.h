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

/// What a kernel event is: a tracepoint, or a switch of the processor from one thread to another.
struct KernelEventKind {
  std::string name;                      ///< "sched:sched_wakeup", "switches"
  std::optional<TraceEvent> tracepoint;  ///< none: switches, which an ordinary user may see of their own threads
};

/// A tracepoint by the name that perf gives it, "sched:sched_wakeup". Nothing where it is missing, or tracepoints
/// cannot be read.
std::optional<KernelEventKind> find_tracepoint(const std::string& name);
/// The same. Throws MachineError if it is not found.
KernelEventKind require_tracepoint(const std::string& name);

/// One that happened.
struct KernelEvent {
  std::size_t kind = 0;       ///< its place in the list that KernelEvents was made of
  std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  pid_t pid = 0;              ///< for whom the processor ran
  pid_t tid = 0;
  std::vector<unsigned char> raw;  ///< of a tracepoint: its fields
  bool out = false;                ///< of a switch: the thread left the processor; else it came back
  bool preempted = false;          ///< it could have gone on
};

/// Events of the kernel while a program and all that it starts run, by perf (perf_event_open(2): PERF_TYPE_TRACEPOINT,
/// and PERF_RECORD_SWITCH). An event counts for the thread that the processor ran, also when an interrupt or another
/// thread's work was its cause.
class KernelEvents {
 public:
  /// Of the program that the calling thread execs next (as a child), from its exec on. Throws MachineError with the
  /// reason, for tracepoints that they are root's.
  explicit KernelEvents(std::vector<KernelEventKind> kinds);
  /// Of one running thread, from now on. Nothing that it starts is followed, so that its forks do no work for it.
  KernelEvents(std::vector<KernelEventKind> kinds, pid_t thread);

  /// Adds what has happened since the last call, in no order between CPUs. One thread at a time.
  void read(std::vector<KernelEvent>& events);
  /// Events that were lost because nobody read them in time.
  [[nodiscard]] std::uint64_t lost() const { return streams_.lost(); }

 private:
  void open(std::size_t kind, pid_t thread, int cpu);

  std::vector<KernelEventKind> kinds_;
  PerfStreams streams_;
};

/// Samples what the kernel does for a thread that stays on one CPU, by the software event cpu-clock at equal steps of
/// time. As root it is the CPU that is sampled, and the thread itself knows nothing of perf: a fork of it has nothing
/// to do for that. Else, with kernel.perf_event_paranoid of 1 or less, the thread. Its children are never followed.
/// perf_event_open(2).
class KernelSampler {
 public:
  /// A sample each `period_ns` from now on. Throws MachineError if that is not offered or not permitted, and if the
  /// thread may run on several CPUs.
  KernelSampler(pid_t tid, std::uint64_t period_ns);
  KernelSampler(const KernelSampler&) = delete;
  KernelSampler& operator=(const KernelSampler&) = delete;

  /// Ends it.
  void stop();
  /// Adds the kernel addresses of each sample since the last call, innermost first; none: in user mode.
  void read(std::vector<std::vector<std::uint64_t>>& stacks);
  [[nodiscard]] std::uint64_t lost() const { return buffer_.front().lost(); }
  /// Whether the CPU is sampled, not the thread.
  [[nodiscard]] bool samples_cpu() const { return samples_cpu_; }

 private:
  pid_t tid_;
  bool samples_cpu_ = false;
  UniqueFd fd_;
  std::vector<PerfBuffer> buffer_;  ///< one, once it is mapped
};

}  // namespace zerotax
