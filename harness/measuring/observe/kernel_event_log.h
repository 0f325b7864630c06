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

/// Describes a kind of kernel event as an event type of the recorder. The first two fields are pid and tid of the
/// event's thread. The tracepoint's fields follow, as the kernel's format describes them. A field of the tracepoint
/// named pid or tid is renamed to event_pid or event_tid. Context switches have the name "kernel_switch". Text of
/// variable length is cut at 64 bytes.
class KernelEventType {
 public:
  explicit KernelEventType(const KernelEventKind& kind);
  KernelEventType(const KernelEventType&) = delete;
  KernelEventType& operator=(const KernelEventType&) = delete;

  /// Records an event into the current trace. Call this function from one thread, in chronological order.
  void record(const KernelEvent& event);

  /// The fields as they are described to the recorder.
  [[nodiscard]] const std::vector<zerotax_field>& fields() const { return fields_; }
  /// The names of those kernel fields that a trace cannot contain.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  /// Returns the bytes of an event, laid out as fields() describes.
  const std::vector<unsigned char>& bytes_of(const KernelEvent& event);

 private:
  enum class Where { kInPlace, kLocated, kLocatedFromEnd };
  struct Source {
    std::size_t field;  ///< index in fields_
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

/// Writes events of the kernel into the trace of this process (started by KernelLog), in a thread of its own. Recording
/// starts with the exec of the program that the calling thread starts next, and ends with finish().
class KernelEventLog {
 public:
  /// Throws the same errors as KernelEvents.
  explicit KernelEventLog(const std::vector<KernelEventKind>& kinds);
  ~KernelEventLog();
  KernelEventLog(const KernelEventLog&) = delete;
  KernelEventLog& operator=(const KernelEventLog&) = delete;

  /// Records the remaining events, and ends recording. Call this function once.
  void finish();
  /// Returns the number of events that were lost because the kernel's buffer was full. Call this function after
  /// finish().
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

/// Returns the kind of event with this name: "switches", or a tracepoint such as "sched:sched_wakeup". Throws
/// UsageError with a suggestion if the name is unknown, and MachineError if tracepoints cannot be read.
KernelEventKind kernel_event_kind(const std::string& name);

/// A name of kernel events that are not from a tracepoint, with a summary of these events.
struct CommonKernelEvent {
  const char* name;
  const char* summary;
};
inline constexpr CommonKernelEvent kSwitches{"switches", "threads that leave the processor and return to it"};

/// Writes the kernel's work for traced processes into a trace of the recorder, beside the events that the processes
/// record. The events are kernel_page_fault, kernel_page_allocation, kernel_fork, kernel_exec and kernel_exit, each
/// with its process and thread. A program can have one KernelLog at a time.
class KernelLog {
 public:
  /// Starts a trace in `folder`. Throws MachineError if the trace cannot be started.
  explicit KernelLog(const std::string& folder);
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  /// Adds a fault at its end. Call this function from one thread, in chronological order.
  void add(const Fault& fault, FaultClass kind);
  /// Adds a fork, exec, exit or allocation. All other events are parts of faults, and are ignored.
  void add(const FaultEvent& event);
};

}  // namespace zerotax
