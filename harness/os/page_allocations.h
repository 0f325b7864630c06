#pragma once

#include <cstddef>

#include "os/trace_event.h"

namespace zerotax {

/// Pages that the kernel took at once: 2^order that lie beside each other.
struct PageAllocation {
  unsigned order = 0;
  bool zeroed = false;   ///< the kernel asked for zeros (__GFP_ZERO), and so clears them
  bool movable = false;  ///< of a program or a file; page tables, stacks and the kernel's own objects are not
};

/// What a sample of kmem:mm_page_alloc says (`raw`: PERF_SAMPLE_RAW, of `bytes`).
PageAllocation page_allocation_of(const TraceEvent& event, const unsigned char* raw, std::size_t bytes);

}  // namespace zerotax
