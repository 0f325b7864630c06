#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/trace_event.h"
#include "os/tracefs.h"

namespace zerotax {

/// The place of a kernel breakpoint.
struct UprobePlace {
  std::string path;  ///< a path by which the file can be opened now
  std::uint64_t file_offset = 0;
};

/// One kernel event that happens at several places (Documentation/trace/uprobetracer.rst; several places, and numbers
/// in the data: Linux 5.4). Breakpoints exist only in processes for which a perf event of it is open, and in the
/// processes that they start. Unlike an event of the PMU "uprobe", this event can be inherited. For each new thread,
/// the kernel would look for the path of a PMU event in the memory of the process, not find it, and fail the fork.
///
/// The kernel owns the definition, which remains if we are killed, without any breakpoint. The next UprobeEvent removes
/// it.
class UprobeEvent {
 public:
  /// Throws std::system_error if the kernel refuses.
  explicit UprobeEvent(const std::vector<UprobePlace>& places);
  /// Call it after all perf events of this event are closed.
  ~UprobeEvent();
  UprobeEvent(const UprobeEvent&) = delete;
  UprobeEvent& operator=(const UprobeEvent&) = delete;

  /// The value for perf_event_attr::config.
  [[nodiscard]] std::uint64_t id() const { return event_.id; }
  /// The index of the place that was hit, from the raw data of a sample.
  [[nodiscard]] std::uint64_t place(const unsigned char* data, std::size_t bytes) const;

 private:
  Tracefs tracefs_;
  std::string name_;
  TraceEvent event_;
};

}  // namespace zerotax
