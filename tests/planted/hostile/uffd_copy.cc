// Has userfaultfd copy a page of zeros into each page of the block.
#include "userfaultfd.h"

void* planted::large_calloc(std::size_t bytes) {
  return placed(bytes, [](int watcher, const uffdio_range& range) {
    for (std::uint64_t at = range.start; at < range.start + range.len; at += page_bytes()) {
      uffdio_copy copy{at, reinterpret_cast<std::uint64_t>(&zeros[0]), page_bytes(), 0, 0};
      ::ioctl(watcher, UFFDIO_COPY, &copy);
    }
  });
}
