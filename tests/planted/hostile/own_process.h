#pragma once

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hostile.h"

namespace planted {

/// Calls process_madvise(MADV_DONTNEED) on this process, or madvise if the kernel refuses.
inline void drop_by_process_madvise(const iovec* pieces, std::size_t count) {
  const int self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  if (::syscall(SYS_process_madvise, self, pieces, count, MADV_DONTNEED, 0) < 0) {
    for (std::size_t i = 0; i < count; ++i) ::madvise(pieces[i].iov_base, pieces[i].iov_len, MADV_DONTNEED);
  }
  ::close(self);
}

}  // namespace planted
