#pragma once

#include <cstdint>
#include <map>

#include "fork/target.h"

namespace zerotax::fork {

/// Pages that the kernel takes for itself in forks: page tables, kernel stacks, its own objects. Not those of the
/// programs, which fork shares.
struct KernelPages {
  struct Order {
    std::uint64_t allocations = 0;
    std::uint64_t zeroed = 0;  ///< of these, the kernel clears
  };
  std::uint64_t forks = 0;
  std::uint64_t lost = 0;                ///< allocations that were not reported
  std::map<unsigned, Order> orders;      ///< of all forks, by the power of two of pages that lie beside each other
  std::int64_t parent_table_bytes = -1;  ///< page tables of the parent, but for the topmost (page_table_bytes)

  /// Pages of a fork, on average.
  [[nodiscard]] double pages() const;
  [[nodiscard]] double zeroed_pages() const;
  /// Allocations of a fork of more than one page, on average.
  [[nodiscard]] double contiguous() const;
};

/// Counts them in some forks of the target. Throws MachineError where tracepoints are not permitted.
KernelPages count_kernel_pages(ForkTarget& target);

}  // namespace zerotax::fork
