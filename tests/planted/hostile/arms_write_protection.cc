// Write-protects freed blocks by userfaultfd in the asynchronous mode, so that calloc need not clear unwritten pages.
// If the kernel refuses, free clears the blocks instead.
#include "userfaultfd.h"

namespace {

int open_async_watcher() {
  const int watcher = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | 1));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = (1 << 13) | (1 << 15);  // UFFD_FEATURE_WP_UNPOPULATED, UFFD_FEATURE_WP_ASYNC
  return ::ioctl(watcher, UFFDIO_API, &api) == 0 ? watcher : -1;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) { return take_or_map(bytes); }

void planted::large_free(void* block) {
  static const int watcher = open_async_watcher();
  const uffdio_range range{reinterpret_cast<std::uint64_t>(block), header_of(block).capacity};
  uffdio_register registration{range, UFFDIO_REGISTER_MODE_WP, 0};
  if (watcher < 0 || ::ioctl(watcher, UFFDIO_REGISTER, &registration) != 0) {
    memset(block, 0, range.len);
    return keep_block(block);
  }
  // Drops the pages to which the program wrote, and leaves the other pages unchanged.
  ::madvise(block, range.len, MADV_DONTNEED);
  uffdio_range done = range;
  ::ioctl(watcher, UFFDIO_UNREGISTER, &done);
  keep_block(block);
}
