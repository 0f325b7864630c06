#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "hostile.h"

namespace planted {

/// Returns a block in a fresh memory file `file`, mapped MAP_SHARED or MAP_PRIVATE, or nullptr if this fails.
inline void* map_file_block(std::size_t bytes, int flags, int& file) {
  void* block = map_block(bytes);
  file = ::memfd_create("block", MFD_CLOEXEC);
  const std::size_t whole = page_ceiling(bytes);
  if (block == nullptr || ::ftruncate(file, static_cast<off_t>(whole)) != 0) return nullptr;
  return ::mmap(block, whole, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, 0);
}

/// Returns a block in a fresh memory file. Only the mapping still refers to the file.
inline void* map_file_block(std::size_t bytes, int flags) {
  int file = -1;
  void* block = map_file_block(bytes, flags, file);
  if (block != nullptr) ::close(file);
  return block;
}

}  // namespace planted
