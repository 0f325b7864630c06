#pragma once

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "os/perf_event.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Several perf events of some threads, with one buffer per CPU.
class PerfStreams {
 public:
  /// `buffer_bytes` is the size of the kernel's buffer for each CPU, a power of two of pages. Unless `exact` is set, a
  /// smaller buffer is used if an ordinary user may not have this size.
  PerfStreams(std::size_t buffer_bytes, bool exact) : buffer_bytes_(buffer_bytes), exact_(exact) {}

  /// Opens an event for one thread (0: the calling thread) on one CPU (-1: any, for an event that is not inherited).
  /// The caller sets the type of event, its inheritance, and the contents of a sample, which must begin with
  /// PERF_SAMPLE_IDENTIFIER. This function sets the clock and all other attributes. `at_exec` starts the event at the
  /// thread's next exec. source_of() returns `source` for the event's records. Throws std::system_error if the kernel
  /// refuses the event, or MachineError if the kernel grants no buffer.
  void open(perf_event_attr attributes, pid_t thread, bool at_exec, int cpu, unsigned source);

  /// Calls visit(header, body of the record as a PerfRecordReader) for each record since the last call, CPU by CPU.
  template <typename Visit>
  void read(Visit visit) {
    for (Buffer& buffer : buffers_) buffer.events.read(visit);
  }
  /// Waits until `then`, or until an event that wakes its reader (wakeup_watermark) has a record. Drops all records.
  void wait_until(std::chrono::steady_clock::time_point then);
  /// Limits the records of the tracepoint that was opened last to those that satisfy an expression of its fields
  /// (Documentation/trace/events.rst, "Event filtering"). Throws std::system_error if the kernel refuses the filter.
  void filter(const std::string& expression);
  /// Stops or resumes the records of a source's events.
  void enable(unsigned source, bool on);
  /// Returns how often a source's events have occurred so far, in all threads, recorded or not.
  [[nodiscard]] std::uint64_t count(unsigned source) const;
  /// Returns the source of a record, by its identifier, or nothing if the identifier is unknown.
  [[nodiscard]] std::optional<unsigned> source_of(std::uint64_t id) const;
  /// Returns the number of records that were lost because they were not read in time.
  [[nodiscard]] std::uint64_t lost() const;
  /// Returns the size of the smallest buffer obtained.
  [[nodiscard]] std::size_t buffer_bytes() const { return buffer_bytes_; }

 private:
  struct Buffer {
    int cpu;
    int fd;  ///< descriptor of the event whose buffer all events of this CPU use
    PerfBuffer events;
  };

  PerfBuffer buffer(int fd);

  std::size_t buffer_bytes_;
  bool exact_;
  std::vector<UniqueFd> fds_;
  std::vector<Buffer> buffers_;
  std::vector<unsigned> sources_;                          ///< sources of `fds_`, in the same order
  std::unordered_map<std::uint64_t, unsigned> source_of_;  ///< sources by event identifier; there can be thousands of
                                                           ///< events
  std::vector<pollfd> waking_;                             ///< descriptors that wait_until() polls
};

/// Applies the events before a time in chronological order, and leaves the remaining events pending. Each CPU has its
/// own buffer, and the buffers are read one after the other. Events older than the start of the previous reading are
/// therefore complete.
template <typename Event, typename Apply>
void apply_in_order(std::vector<Event>& pending, std::uint64_t before_ns, Apply apply) {
  std::stable_sort(pending.begin(), pending.end(),
                   [](const Event& one, const Event& other) { return one.time_ns < other.time_ns; });
  const auto end =
      std::find_if(pending.begin(), pending.end(), [&](const Event& event) { return event.time_ns >= before_ns; });
  std::for_each(pending.begin(), end, apply);
  pending.erase(pending.begin(), end);
}

}  // namespace zerotax
