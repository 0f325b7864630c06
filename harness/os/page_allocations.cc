#include "os/page_allocations.h"

#include <cstdint>

namespace zerotax {

PageAllocation page_allocation_of(const TraceEvent& event, const unsigned char* raw, std::size_t bytes) {
  const auto value = [&](const char* field) { return event.number(field, raw, bytes); };
  return {static_cast<unsigned>(value("order")), (value("gfp_flags") & kGfpZero) != 0,
          value("migratetype") == kMovable};
}

}  // namespace zerotax
