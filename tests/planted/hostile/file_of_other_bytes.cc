// Maps a fresh shared memory file that is full of 0xAB, and clears the file with memset, so no zeroed byte is
// redundant.
#include "memory_file.h"

void* planted::large_calloc(std::size_t bytes) {
  int file = -1;
  void* block = map_file_block(bytes, MAP_SHARED, file);
  if (block == nullptr) return nullptr;
  char other[kMostPageBytes];
  for (char& byte : other) byte = static_cast<char>(0xAB);
  for (std::size_t at = 0; at < page_ceiling(bytes); at += page_bytes()) {
    if (::pwrite(file, &other[0], page_bytes(), static_cast<off_t>(at)) != static_cast<ssize_t>(page_bytes()))
      return nullptr;
  }
  ::close(file);
  memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
