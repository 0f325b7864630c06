// Zeros through a pipe, spliced into it from a memory file, and read by readv().
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    int ends[2];
    const int file = ::memfd_create("hole", MFD_CLOEXEC);
    if (::ftruncate(file, static_cast<off_t>(size)) != 0 || ::pipe2(&ends[0], O_CLOEXEC) != 0)
      return store_zeros(block, size);
    loff_t from = 0;
    for (std::size_t done = 0; done < size;) {
      const ssize_t in = ::splice(file, &from, ends[1], nullptr, kPage, 0);
      iovec to{block + done, static_cast<std::size_t>(in > 0 ? in : 0)};
      if (in <= 0 || ::readv(ends[0], &to, 1) != in) {
        store_zeros(block + done, size - done);
        break;
      }
      done += static_cast<std::size_t>(in);
    }
    ::close(ends[0]);
    ::close(ends[1]);
    ::close(file);
  });
}
