#include "meter/meter.h"

namespace zerotax {
namespace {

bool operation(Meter& meter, const Request& request) {
  void* block = meter.allocate(request.size_bytes);
  if (block == nullptr) return false;
  if (request.touch > 0) meter.touch(block, request.size_bytes, request.touch);
  meter.release(block);
  return true;
}

constexpr Case kCase{"calloc_loop", "calloc a block, write to a fraction of its pages, free it, and repeat", operation};
const CaseRegistration registration(kCase);

}  // namespace
}  // namespace zerotax
