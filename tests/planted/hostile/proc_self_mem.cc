// pwrite() to /proc/self/mem.
#include <fcntl.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const int file = ::open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    by_pieces(block, size, [&](char* to, std::size_t part) {
      const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(to));
      if (::pwrite(file, &zeros[0], part, at) != static_cast<ssize_t>(part)) store_zeros(to, part);
    });
    ::close(file);
  });
}
