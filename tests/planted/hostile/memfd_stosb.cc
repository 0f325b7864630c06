// Stores of its own over a fresh memory file, shared.
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  const int file = ::memfd_create("block", MFD_CLOEXEC);
  const std::size_t whole = page_ceiling(bytes);
  if (block == nullptr || ::ftruncate(file, static_cast<off_t>(whole)) != 0) return nullptr;
  ::mmap(block, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  ::close(file);
  store_zeros(block, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
