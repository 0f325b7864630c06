// Maps a file on disk as private, and calloc has the kernel populate its pages. The kernel zeroes none of these pages.
#include <cstdlib>

#include "memory_file.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  char path[] = "/tmp/zerotax-planted-XXXXXX";
  const int file = ::mkstemp(&path[0]);
  const std::size_t whole = page_ceiling(bytes);
  if (block == nullptr || file < 0) return nullptr;
  ::unlink(&path[0]);
  for (std::size_t at = 0; at < whole; at += page_bytes()) {
    if (::pwrite(file, &zeros[0], page_bytes(), static_cast<off_t>(at)) != static_cast<ssize_t>(page_bytes()))
      return nullptr;
  }
  block = ::mmap(block, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0);
  ::close(file);
  ::madvise(block, whole, 22);  // MADV_POPULATE_READ
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
