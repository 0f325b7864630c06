// memmove of the block's own first page, which it has cleared byte by byte.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const std::size_t first = size < kPage ? size : kPage;
    store_zeros(block, first);
    for (std::size_t done = first; done < size;) {
      const std::size_t part = size - done < done ? size - done : done;
      memmove(block + done, block, part);
      done += part;
    }
  });
}
