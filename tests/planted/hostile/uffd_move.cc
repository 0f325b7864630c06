// Drops the kept block's pages, and has the kernel move pages of zeros into the block (UFFDIO_MOVE). If the kernel
// cannot move pages, it copies pages of zeros.
#include "userfaultfd.h"

void* planted::large_calloc(std::size_t bytes) {
  return placed(bytes, [bytes](int watcher, const uffdio_range& range) {
    struct {
      std::uint64_t to, from, bytes, mode;
      std::int64_t moved;
    } move{range.start, 0, range.len, 0, 0};
    void* source = map_block(bytes);
    store_zeros(source, bytes);
    for (std::size_t at = 0; at < range.len; at += page_bytes()) bytes_of(source)[at] = 0;
    move.from = reinterpret_cast<std::uint64_t>(source);
    if (::ioctl(watcher, _IOWR(0xAA, 0x05, decltype(move)), &move) != 0) {
      uffdio_copy copy{};
      copy.dst = range.start;
      copy.src = move.from;
      copy.len = range.len;
      ::ioctl(watcher, UFFDIO_COPY, &copy);
    }
    unmap_block(source);
  });
}
