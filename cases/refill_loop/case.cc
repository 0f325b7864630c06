#include <cstddef>

#include "meter/meter.h"

namespace zerotax {
namespace {

constexpr std::size_t kBuffers = 8;

/// One round of a service that answers a request. All buffers of a round are live at once, and no buffer is live
/// between two rounds.
bool operation(Meter& meter, const Request& request) {
  void* buffers[kBuffers] = {};
  std::size_t count = 0;
  while (count < kBuffers && (buffers[count] = meter.allocate(request.size_bytes)) != nullptr) {
    if (request.touch > 0) meter.touch(buffers[count], request.size_bytes, request.touch);
    ++count;
  }
  for (std::size_t i = 0; i < count; ++i) meter.release(buffers[i]);
  return count == kBuffers;
}

constexpr Case refill_case() {
  Case made{"refill_loop", "malloc 8 buffers of the size, fill them, free them all, and repeat", operation};
  made.mallocs = true;
  made.memory = kBuffers;
  return made;
}

constexpr Case kCase = refill_case();
const CaseRegistration registration(kCase);

}  // namespace
}  // namespace zerotax
