#include "os/page_allocations.h"

#include <cstdint>

namespace zerotax {

PageAllocation page_allocation_of(const TraceEvent& event, const unsigned char* raw, std::size_t bytes) {
  // No part of the kernel's interface, but the same from Linux 4.x to 6.18: __GFP_ZERO (include/linux/gfp_types.h), and
  // MIGRATE_MOVABLE, the migratetype of pages of programs and files (include/linux/mmzone.h); page tables have 0.
  constexpr std::uint64_t kGfpZero = 0x100;
  constexpr std::uint64_t kMovable = 1;
  const auto value = [&](const char* field) { return event.number(field, raw, bytes); };
  return {static_cast<unsigned>(value("order")), (value("gfp_flags") & kGfpZero) != 0,
          value("migratetype") == kMovable};
}

}  // namespace zerotax
