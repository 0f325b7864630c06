#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/trace_event.h"
#include "os/tracefs.h"

namespace zerotax {

/// Where a breakpoint of the kernel stands.
struct UprobePlace {
  std::string path;  ///< by which the file can be opened now
  std::uint64_t file_offset = 0;
};

/// One event of the kernel that happens at several places (Documentation/trace/uprobetracer.rst; several, and numbers
/// in its data: Linux 5.4). Breakpoints stand only in processes for which a perf event of it is open, and in what they
/// start. Unlike an event of the PMU "uprobe", it can be inherited: for each thread that the process starts, the kernel
/// would look for that one's path in the memory of the process, not find it, and fail the fork.
///
/// The definition is the kernel's, and outlives us if we are killed, without any breakpoint. The next one that is made
/// removes it.
class UprobeEvent {
 public:
  /// Throws std::system_error if the kernel refuses.
  explicit UprobeEvent(const std::vector<UprobePlace>& places);
  /// All perf events of it must be closed.
  ~UprobeEvent();
  UprobeEvent(const UprobeEvent&) = delete;
  UprobeEvent& operator=(const UprobeEvent&) = delete;

  /// For perf_event_attr::config.
  [[nodiscard]] std::uint64_t id() const { return event_.id; }
  /// Which of the places it was, by the raw data of a sample.
  [[nodiscard]] std::uint64_t place(const unsigned char* data, std::size_t bytes) const;

 private:
  Tracefs tracefs_;
  std::string name_;
  TraceEvent event_;
};

}  // namespace zerotax
