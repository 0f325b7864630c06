// pread() from a hole of a memory file.
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const int file = ::memfd_create("hole", MFD_CLOEXEC);
    if (::ftruncate(file, static_cast<off_t>(size)) != 0 || ::pread(file, block, size, 0) < 0) store_zeros(block, size);
    ::close(file);
  });
}
