#include "findings/populating.h"

#include "os/page.h"

namespace zerotax::findings {

bool can_have_populated(std::uint64_t faults, std::uint64_t bytes) {
  return 2 * faults * (bytes < kHugePageBytes ? kPageBytes : kHugePageBytes) >= bytes;
}

}  // namespace zerotax::findings
