// Replaces every descriptor except the standard descriptors with /dev/null, then stores zeros itself.
#include <fcntl.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int file = 3; file < 64; ++file) {
    if (file != null) ::dup3(null, file, O_CLOEXEC);
  }
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, size); });
}
