// process_madvise(MADV_DONTNEED) on its own process; madvise if the kernel refuses that.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const int self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
    const iovec range{block, page_ceiling(size)};
    if (::syscall(SYS_process_madvise, self, &range, 1, MADV_DONTNEED, 0) != static_cast<long>(range.iov_len)) {
      ::madvise(block, range.iov_len, MADV_DONTNEED);
    }
    ::close(self);
  });
}
