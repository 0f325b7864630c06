// Zeros through a pipe, vmspliced from a page of zeros.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    int ends[2];
    if (::pipe2(&ends[0], O_CLOEXEC) != 0) return store_zeros(block, size);
    by_pieces(block, size, [&](char* to, std::size_t part) {
      const iovec from{const_cast<char*>(&zeros[0]), part};
      const auto whole = static_cast<ssize_t>(part);
      if (::vmsplice(ends[1], &from, 1, 0) != whole || ::read(ends[0], to, part) != whole) store_zeros(to, part);
    });
    ::close(ends[0]);
    ::close(ends[1]);
  });
}
