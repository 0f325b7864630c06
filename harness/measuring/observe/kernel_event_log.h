#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "observe/kernel_event_type.h"
#include "os/kernel_events.h"
#include "os/worker.h"

namespace zerotax {

/// Writes events of the kernel into the trace that this process is recording (KernelLog starts one), from the exec of
/// the program that the calling thread starts next until finish(), in a thread of its own.
class KernelEventLog {
 public:
  /// Throws as KernelEvents.
  explicit KernelEventLog(const std::vector<KernelEventKind>& kinds);
  ~KernelEventLog();
  KernelEventLog(const KernelEventLog&) = delete;
  KernelEventLog& operator=(const KernelEventLog&) = delete;

  /// Records what has happened until now, and ends. Once.
  void finish();
  /// Events that the kernel had no room for. After finish.
  [[nodiscard]] std::uint64_t lost() const { return events_.lost(); }

 private:
  void work();
  void record_before(std::uint64_t time_ns);

  KernelEvents events_;
  std::vector<std::unique_ptr<KernelEventType>> types_;
  std::vector<KernelEvent> pending_;
  std::atomic<bool> done_ = false;
  Worker thread_;
};

/// A kind of event by its name: "switches", or a tracepoint ("sched:sched_wakeup"). Throws UsageError for an unknown
/// one, with what was probably meant; MachineError where tracepoints cannot be read.
KernelEventKind kernel_event_kind(const std::string& name);

/// The names that are no tracepoints, with what they are: {"switches", "..."}.
struct CommonKernelEvent {
  const char* name;
  const char* summary;
};
inline constexpr CommonKernelEvent kSwitches{"switches", "threads leaving the processor and coming back to it"};

}  // namespace zerotax
