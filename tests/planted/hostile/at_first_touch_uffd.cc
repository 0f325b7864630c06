// Drops the block's pages. From then on, a thread serves each page fault by userfaultfd, with a copy of zeros.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hostile.h"

namespace {

int watcher = -1;

void* serve(void*) {
  uffd_msg message;
  while (::read(watcher, &message, sizeof message) == sizeof message) {
    if (message.event != UFFD_EVENT_PAGEFAULT) continue;
    uffdio_copy copy{message.arg.pagefault.address / planted::page_bytes() * planted::page_bytes(),
                     reinterpret_cast<std::uint64_t>(&planted::zeros[0]), planted::page_bytes(), 0, 0};
    ::ioctl(watcher, UFFDIO_COPY, &copy);
  }
  return nullptr;
}

void start() {
  watcher = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | 1));
  uffdio_api api{};
  api.api = UFFD_API;
  ::ioctl(watcher, UFFDIO_API, &api);
  pthread_t thread{};
  ::pthread_create(&thread, nullptr, serve, nullptr);
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  if (watcher < 0) start();
  void* block = map_block(bytes);
  if (block == nullptr) return nullptr;
  uffdio_register registration{
      {reinterpret_cast<std::uint64_t>(block), page_ceiling(bytes)}, UFFDIO_REGISTER_MODE_MISSING, 0};
  ::ioctl(watcher, UFFDIO_REGISTER, &registration);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
