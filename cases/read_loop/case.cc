#include "meter/meter.h"

namespace zerotax {
namespace {

bool operation(Meter& meter, const Request& request) {
  void* block = meter.allocate(request.size_bytes);
  if (block == nullptr) return false;
  if (request.touch > 0) meter.read(block, request.size_bytes, request.touch);
  meter.release(block);
  return true;
}

constexpr Case kCase{"read_loop", "calloc a block, read a fraction of its pages and write none, free it, and repeat",
                     operation};
const CaseRegistration registration(kCase);

}  // namespace
}  // namespace zerotax
