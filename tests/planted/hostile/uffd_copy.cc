// Has userfaultfd copy a page of zeros into each page of the block.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hostile.h"

namespace {

int watcher = -1;

bool open_watcher() {
  watcher = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | 1));
  uffdio_api api{};
  api.api = UFFD_API;
  return ::ioctl(watcher, UFFDIO_API, &api) == 0;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(bytes);
  if (block == nullptr || (watcher < 0 && !open_watcher())) return nullptr;
  const uffdio_range range{reinterpret_cast<std::uint64_t>(block), page_ceiling(bytes)};
  ::madvise(block, range.len, MADV_DONTNEED);
  uffdio_register registration{range, UFFDIO_REGISTER_MODE_MISSING, 0};
  ::ioctl(watcher, UFFDIO_REGISTER, &registration);
  for (std::uint64_t at = range.start; at < range.start + range.len; at += kPage) {
    uffdio_copy copy{at, reinterpret_cast<std::uint64_t>(&zeros[0]), kPage, 0, 0};
    ::ioctl(watcher, UFFDIO_COPY, &copy);
  }
  uffdio_range done = range;
  ::ioctl(watcher, UFFDIO_UNREGISTER, &done);
  return block;
}
