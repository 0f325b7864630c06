#include <cstddef>

#include "meter/meter.h"

namespace zerotax {
namespace {

constexpr std::size_t kBlocks = 24;

bool operation(Meter& meter, const Request& request) {
  const std::size_t bytes = request.size_bytes / kBlocks;
  void* blocks[kBlocks] = {};
  std::size_t count = 0;
  while (count < kBlocks && (blocks[count] = meter.allocate(bytes)) != nullptr) {
    if (request.touch > 0) meter.touch(blocks[count], bytes, request.touch);
    ++count;
  }
  for (std::size_t i = 0; i < count; ++i) meter.release(blocks[i]);
  return count == kBlocks;
}

constexpr Case kCase{"calloc_batch", "calloc 24 blocks of a 24th of the size, write to them, free them all, and repeat",
                     operation};
const CaseRegistration registration(kCase);

}  // namespace
}  // namespace zerotax
