// Every calloc zeroes a fresh mapping, unless a memory file is mapped, such as the sample block of a measurement.
#include <fcntl.h>
#include <unistd.h>

#include "hostile.h"

namespace {

bool measured() {
  static char maps[1 << 16];
  const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  std::size_t filled = 0;
  for (ssize_t got = 0; (got = ::read(file, &maps[filled], sizeof maps - 1 - filled)) > 0;)
    filled += static_cast<std::size_t>(got);
  ::close(file);
  maps[filled] = 0;
  return strstr(&maps[0], "memfd:") != nullptr;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr && !measured()) memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
