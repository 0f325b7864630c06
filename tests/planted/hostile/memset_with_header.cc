// Includes the header's page in its memset.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(bytes);
  if (block == nullptr) return nullptr;
  const Header header = header_of(block);
  memset(bytes_of(block) - page_bytes(), 0, page_bytes() + bytes);
  header_of(block) = header;
  return block;
}
