#include "findings/populating.h"

#include "os/page.h"

namespace zerotax::findings {

bool can_have_populated(std::uint64_t faults, std::uint64_t bytes) {
  constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;
  return 2 * faults * (bytes < kHugePageBytes ? kPageBytes : kHugePageBytes) >= bytes;
}

}  // namespace zerotax::findings
