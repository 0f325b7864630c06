// memset of 8 KiB at a time, from the end to the beginning.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    for (std::size_t end = size; end > 0;) {
      const std::size_t part = end % (2 * kPage) != 0 ? end % (2 * kPage) : 2 * kPage;
      end -= part;
      memset(block + end, 0, part);
    }
  });
}
