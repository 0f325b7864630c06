#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "os/perf_buffer.h"
#include "os/trace_event.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Pages that the kernel took at once: 2^order that lie beside each other.
struct PageAllocation {
  unsigned order = 0;
  bool zeroed = false;   ///< the kernel asked for zeros (__GFP_ZERO), and so clears them
  bool movable = false;  ///< of a program or a file; page tables, stacks and the kernel's own objects are not
};

/// What a sample of kmem:mm_page_alloc says (`raw`: PERF_SAMPLE_RAW, of `bytes`).
PageAllocation page_allocation_of(const TraceEvent& event, const unsigned char* raw, std::size_t bytes);

/// The pages that the kernel allocates in the name of one thread, each reported by the tracepoint kmem:mm_page_alloc
/// (perf_event_open(2), PERF_TYPE_TRACEPOINT). Its children are not followed.
class PageAllocations {
 public:
  /// From now on. Throws MachineError where that is not permitted: tracepoints are root's.
  explicit PageAllocations(pid_t tid);

  /// Ends it.
  void stop();
  /// Adds what was reported since the last call.
  void read(std::vector<PageAllocation>& allocations);
  /// How many were not reported, because the buffer was full.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  TraceEvent event_;
  UniqueFd fd_;
  std::optional<PerfBuffer> buffer_;
  std::uint64_t lost_ = 0;
};

}  // namespace zerotax
