// Has userfaultfd map the zero page into each page of the block.
#include "userfaultfd.h"

void* planted::large_calloc(std::size_t bytes) {
  return placed(bytes, [](int watcher, const uffdio_range& range) {
    uffdio_zeropage zero{range, 0, 0};
    ::ioctl(watcher, UFFDIO_ZEROPAGE, &zero);
  });
}
