#pragma once

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "os/perf_event.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Several perf events of some threads, with one buffer for each CPU.
class PerfStreams {
 public:
  /// `buffer_bytes`: of the kernel's buffer for each CPU, a power of two of pages. Unless it is `exact`, less will do
  /// where an ordinary user may not have as much.
  PerfStreams(std::size_t buffer_bytes, bool exact) : buffer_bytes_(buffer_bytes), exact_(exact) {}

  /// One event of one thread (0: the calling one) on one CPU (-1: on any, for an event that is not inherited). The
  /// caller has set the type of event, whether children inherit it, and what a sample holds, which begins with
  /// PERF_SAMPLE_IDENTIFIER; clock and the rest are set here. `at_exec`: from the thread's next exec on. `source`: what
  /// source_of() says of its records. Throws std::system_error if the kernel refuses, MachineError if it grants no
  /// buffer.
  void open(perf_event_attr attributes, pid_t thread, bool at_exec, int cpu, unsigned source);

  /// Calls visit(header, body of the record as a PerfRecordReader) for each record since the last call, CPU by CPU.
  template <typename Visit>
  void read(Visit visit) {
    for (Buffer& buffer : buffers_) buffer.events.read(visit);
  }
  /// Waits until `then`, or until an event that wakes its reader (wakeup_watermark) has a record. Drops all records.
  void wait_until(std::chrono::steady_clock::time_point then);
  /// Stops the records of a source's events, or resumes them.
  void enable(unsigned source, bool on);
  /// How often a source's events have happened so far, in all threads; recorded or not.
  [[nodiscard]] std::uint64_t count(unsigned source) const;
  /// Whose record it is, by its identifier; nothing for a stranger's.
  [[nodiscard]] std::optional<unsigned> source_of(std::uint64_t id) const;
  /// Records that were lost because nobody read them in time.
  [[nodiscard]] std::uint64_t lost() const;
  /// Of the smallest buffer obtained.
  [[nodiscard]] std::size_t buffer_bytes() const { return buffer_bytes_; }

 private:
  struct Buffer {
    int cpu;
    int fd;  ///< that the others' output is sent to
    PerfBuffer events;
  };

  PerfBuffer buffer(int fd);

  std::size_t buffer_bytes_;
  bool exact_;
  std::vector<UniqueFd> fds_;
  std::vector<Buffer> buffers_;
  std::vector<unsigned> sources_;                          ///< of these, in their order
  std::unordered_map<std::uint64_t, unsigned> source_of_;  ///< by identifier: there can be thousands
  std::vector<pollfd> waking_;                             ///< of wait_until()
};

}  // namespace zerotax
