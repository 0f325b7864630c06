#pragma once

#include <cstdint>

namespace zerotax {

/// What the kernel took to populate fresh memory.
struct FaultSample {
  std::uint64_t bytes;
  std::uint64_t faults;  ///< minor faults of the thread; 0: no memory could be mapped
  std::uint64_t cpu_ns;  ///< by the thread's clock
};

enum class PageKind { kAsSet, kBase, kHuge };  ///< kAsSet: as the system is set up

/// Maps fresh memory, writes to each page of `bytes` (for kHuge: whole huge pages), and unmaps it. Allocates
/// nothing.
FaultSample measure_fault_cost(std::uint64_t bytes, PageKind pages);

}  // namespace zerotax
