#pragma once

#include <zerotax/recorder.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "observe/fault.h"
#include "os/fault_events.h"
#include "os/kernel_events.h"
#include "os/worker.h"

namespace zerotax {

/// A kind of kernel event as a type of event of the recorder: the fields pid and tid, of the thread that it is of, and
/// then those of the tracepoint, each as the kernel's format describes it. A field that would be a second pid or tid is
/// called event_pid or event_tid. Switches are "kernel_switch". Text whose length varies is cut at 64 bytes.
class KernelEventType {
 public:
  explicit KernelEventType(const KernelEventKind& kind);
  KernelEventType(const KernelEventType&) = delete;
  KernelEventType& operator=(const KernelEventType&) = delete;

  /// Records one into the trace that is running. From one thread, in the order of time.
  void record(const KernelEvent& event);

  /// The recorder's description of it.
  [[nodiscard]] const std::vector<zerotax_field>& fields() const { return fields_; }
  /// Fields of the kernel that a trace cannot hold.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  /// The bytes of an event, as `fields` describes them.
  const std::vector<unsigned char>& bytes_of(const KernelEvent& event);

 private:
  enum class Where { kInPlace, kLocated, kLocatedFromEnd };
  struct Source {
    std::size_t field;  ///< of fields_
    Where where;
    TraceEvent::Field from;
  };

  void add(const std::string& name, std::uint32_t kind, std::uint32_t bytes, std::uint32_t count, bool array);
  void add(const std::string& name, const TraceEvent::Field& field);
  template <typename T>
  void put(std::size_t field, T value);
  void put_from(const Source& source, const std::vector<unsigned char>& raw);

  bool is_switch_;
  std::deque<std::string> names_;
  std::vector<zerotax_field> fields_;
  std::vector<Source> sources_;
  std::vector<std::string> left_out_;
  std::vector<unsigned char> bytes_;
  zerotax_type type_{};
};

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

/// Writes what the kernel does for traced processes into a trace of the recorder, beside what they record themselves:
/// kernel_page_fault, kernel_page_allocation, kernel_fork, kernel_exec, kernel_exit, each with the process and thread
/// that it is of. One in a program at a time.
class KernelLog {
 public:
  /// `folder`: of the trace. Throws MachineError if it cannot be started.
  explicit KernelLog(const std::string& folder);
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  /// From one thread, in the order of time. A fault is reported at its end.
  void add(const Fault& fault, FaultClass kind);
  /// Forks, execs, exits and allocations; what else there is, is part of a fault.
  void add(const FaultEvent& event);
};

}  // namespace zerotax
