#include "os/page_allocations.h"

#include <cstdint>

namespace zerotax {

PageAllocation page_allocation_of(const TraceEvent& event, const unsigned char* raw, std::size_t bytes) {
  const auto value = [&](const char* field) { return event.number(field, raw, bytes); };
  const std::uint64_t flags = value("gfp_flags");
  const auto order = static_cast<unsigned>(value("order"));
  const bool huge = order > 0 && (flags & kGfpNoMemoryAllocator) != 0;
  const bool base = order == 0 && (flags & kGfpOfProgram) == kGfpOfProgram && (flags & kGfpOfFile) == 0;
  return {order, (flags & kGfpZero) != 0, value("migratetype") == kMovable, huge || base};
}

}  // namespace zerotax
