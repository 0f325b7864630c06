#pragma once

#include <sys/types.h>
#include <unistd.h>

#include "core.h"

namespace planted {

/// Returns a fresh block in a shared memory file, which no kernel rule guarantees to be zero. `prepare` may write to
/// the file before the file is mapped.
template <typename Prepare>
void* map_shared(std::size_t bytes, Prepare prepare) {
  void* block = map_block(bytes);
  if (block == nullptr) return nullptr;
  const std::size_t capacity = header_of(block).capacity;
  const int file = ::memfd_create("planted", MFD_CLOEXEC);
  const bool mapped = file >= 0 && ::ftruncate(file, static_cast<off_t>(capacity)) == 0 && prepare(file) &&
                      ::mmap(block, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == block;
  if (file >= 0) ::close(file);
  if (mapped) return block;
  unmap_block(block);
  errno = ENOMEM;
  return nullptr;
}

}  // namespace planted
