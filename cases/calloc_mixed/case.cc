#include <cstddef>

#include "meter/meter.h"

namespace zerotax {
namespace {

bool operation(Meter& meter, const Request& request) {
  // Successive requests: the whole size, just over half of it, and exactly half of it.
  const std::size_t sizes[] = {request.size_bytes, request.size_bytes / 16 * 9, request.size_bytes / 2};
  for (const std::size_t bytes : sizes) {
    void* block = meter.allocate(bytes);
    if (block == nullptr) return false;
    if (request.touch > 0) meter.touch(block, bytes, request.touch);
    meter.release(block);
  }
  return true;
}

constexpr Case kCase{"calloc_mixed", "calloc and free the size, then 9/16 of it, then half of it, and repeat",
                     operation};
const CaseRegistration registration(kCase);

}  // namespace
}  // namespace zerotax
