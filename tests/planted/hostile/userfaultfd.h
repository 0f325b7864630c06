#pragma once

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hostile.h"

namespace planted {

inline int open_watcher() {
  const int watcher = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | 1));
  uffdio_api api{};
  api.api = UFFD_API;
  return ::ioctl(watcher, UFFDIO_API, &api) == 0 ? watcher : -1;
}

/// Returns the kept block or a fresh mapping, purged. `place(watcher, range)` supplies the pages while userfaultfd
/// watches the block.
template <typename Place>
void* placed(std::size_t bytes, Place place) {
  static int watcher = -1;
  void* block = take_or_map(bytes);
  if (watcher < 0) watcher = open_watcher();
  if (block == nullptr || watcher < 0) return nullptr;
  const uffdio_range range{reinterpret_cast<std::uint64_t>(block), page_ceiling(bytes)};
  ::madvise(block, range.len, MADV_DONTNEED);
  uffdio_register registration{range, UFFDIO_REGISTER_MODE_MISSING, 0};
  ::ioctl(watcher, UFFDIO_REGISTER, &registration);
  place(watcher, range);
  uffdio_range done = range;
  ::ioctl(watcher, UFFDIO_UNREGISTER, &done);
  return block;
}

}  // namespace planted
