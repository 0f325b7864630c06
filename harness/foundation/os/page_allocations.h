#pragma once

#include <cstddef>
#include <cstdint>

#include "os/trace_event.h"

namespace zerotax {

// Values of fields of kmem:mm_page_alloc. No part of the kernel's interface, but the same from Linux 4.x to 6.18:
// include/linux/gfp_types.h, include/linux/mmzone.h.
inline constexpr std::uint64_t kGfpZero = 0x100;  ///< __GFP_ZERO: the kernel clears the page
/// __GFP_NOMEMALLOC, which pages of a fault that are larger than the base size have (GFP_TRANSHUGE_LIGHT). Such pages
/// are cleared after they were allocated. Those that are read from a file lack the flag.
inline constexpr std::uint64_t kGfpNoMemoryAllocator = 0x80000;
/// __GFP_HIGHMEM and __GFP_HARDWALL, which pages of programs have. Pages of pipes and of the page cache have one of
/// __GFP_ACCOUNT, __GFP_WRITE and __GFP_NORETRY. Pages of shared memory have none of these.
inline constexpr std::uint64_t kGfpOfProgram = 0x100002;
inline constexpr std::uint64_t kGfpOfFile = 0x411000;
inline constexpr std::uint64_t kMovable = 1;  ///< MIGRATE_MOVABLE: pages of programs and files; page tables have 0
inline constexpr unsigned kHugeOrder = 9;     ///< of a huge page, on base pages of 4 KiB

/// Pages that the kernel took at once: 2^order that lie beside each other.
struct PageAllocation {
  unsigned order = 0;
  bool zeroed = false;   ///< the kernel asked for zeros (__GFP_ZERO), and so clears them
  bool movable = false;  ///< of a program or a file; page tables, stacks and the kernel's own objects are not
  /// Whether pages were allocated in the way of copies and zero-fills. If the kernel pins such pages at once, they
  /// cannot be moved. Shared memory is allocated in the same way.
  bool of_program = false;
};

/// Decodes a sample of kmem:mm_page_alloc (`raw`: PERF_SAMPLE_RAW, of `bytes`).
PageAllocation page_allocation_of(const TraceEvent& event, const unsigned char* raw, std::size_t bytes);

}  // namespace zerotax
