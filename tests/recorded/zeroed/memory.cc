// Zeroes the same number of bytes as zeroed.cc in memory that malloc does not provide, or by the kernel's own stores.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cstdint>
#include <cstdlib>

#include "instructions.h"
#include "zeroed/ways.h"

namespace {

int by_shared_memory() {
  for (int i = 0; i < kBlocks; ++i) {
    char* begin = map(kBytes, MAP_SHARED | MAP_ANONYMOUS);
    write_pages(begin, kBytes);
    ::munmap(begin, kBytes);
  }
  return 0;
}

/// Writes to a private mapping of a memfd. For each page, the kernel zeroes the file's page and copies it.
int by_private_memfd() {
  const int file = static_cast<int>(::syscall(SYS_memfd_create, "memory", MFD_CLOEXEC));
  if (::ftruncate(file, kBlocks * kBytes) != 0) return 8;
  write_pages(map(kBlocks * kBytes, MAP_PRIVATE, file), kBlocks * kBytes);
  return 0;
}

/// Copies one block into another, unpopulated block by userfaultfd. Only the first block is zeroed.
template <typename Control>
int by_userfault_copy(Control control) {
  char* from = map(kBytes, MAP_PRIVATE | MAP_ANONYMOUS);
  write_pages(from, kBytes);
  char* to = map(kBytes, MAP_PRIVATE | MAP_ANONYMOUS);
  constexpr int kUserModeOnly = 1;  // UFFD_USER_MODE_ONLY
  const int fd = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | kUserModeOnly));
  uffdio_api api{UFFD_API, 0, 0};
  uffdio_register range{{reinterpret_cast<std::uintptr_t>(to), kBytes}, UFFDIO_REGISTER_MODE_MISSING, 0};
  if (fd < 0 || ::ioctl(fd, UFFDIO_API, &api) != 0 || ::ioctl(fd, UFFDIO_REGISTER, &range) != 0) return 77;
  uffdio_copy copy{reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from), kBytes, 0, 0};
  control(fd, reinterpret_cast<long>(&copy));
  return copy.copy == static_cast<std::int64_t>(kBytes) ? 0 : 8;
}

int by_userfault_number() {
  return by_userfault_copy([](int fd, long copy) { ::syscall(SYS_ioctl, fd, UFFDIO_COPY, copy); });
}

int by_userfault_instruction() {
  return by_userfault_copy(
      [](int fd, long copy) { instructions::system_call(SYS_ioctl, fd, static_cast<long>(UFFDIO_COPY), copy); });
}

int by_populate() {
  for (int i = 0; i < kBlocks; ++i) ::munmap(map(kBytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE), kBytes);
  return 0;
}

/// The kernel itself takes the faults, because no instruction of the program touches the pages.
int by_read() {
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < kBlocks; ++i) {
    auto* block = static_cast<char*>(std::malloc(kBytes));
    if (::read(zero, block, kBytes) != static_cast<ssize_t>(kBytes)) return 8;
    std::free(block);
  }
  return 0;
}

int by_mremap() {
  // When the block grows, the kernel moves the page table entries, so only the new pages are zeroed.
  char* block = map(kPage, MAP_PRIVATE | MAP_ANONYMOUS);
  block = static_cast<char*>(::mremap(block, kPage, kBlocks * kBytes, MREMAP_MAYMOVE));
  write_pages(block, kBlocks * kBytes);
  return 0;
}

int by_mremap_over() {
  // Each move replaces the memory of the previous move. The program writes 120 MiB in parts of 20 MiB, and keeps the
  // last part.
  constexpr std::size_t kHalf = kBytes / 2;
  char* target = map(kHalf, MAP_PRIVATE | MAP_ANONYMOUS);
  write_pages(target, kHalf);
  for (int i = 1; i < 2 * kBlocks; ++i) {
    char* block = map(kHalf, MAP_PRIVATE | MAP_ANONYMOUS);
    write_pages(block, kHalf);
    ::mremap(block, kHalf, kHalf, MREMAP_MAYMOVE | MREMAP_FIXED, target);
  }
  return 0;
}

int by_brk() {
  auto* begin = static_cast<char*>(::sbrk(0));
  for (int i = 0; i < kBlocks; ++i) {
    ::sbrk(static_cast<std::intptr_t>(kBytes));
    write_pages(begin, kBytes);
    ::sbrk(-static_cast<std::intptr_t>(kBytes));
  }
  return 0;
}

int by_dontneed() {
  char* block = map(kBytes, MAP_PRIVATE | MAP_ANONYMOUS);
  for (int i = 0; i < kBlocks; ++i) {
    write_pages(block, kBytes);
    ::syscall(SYS_madvise, block, kBytes, MADV_DONTNEED);
  }
  return 0;
}

/// Calls the kernel without the C library, like programs that have no C library.
int by_instruction() {
  char* block = map(kBytes, MAP_PRIVATE | MAP_ANONYMOUS);
  for (int i = 0; i < kBlocks; ++i) {
    write_pages(block, kBytes);
    instructions::system_call(SYS_madvise, reinterpret_cast<long>(block), kBytes, MADV_DONTNEED);
  }
  return 0;
}

int from_another_process() {
  auto* block = map(kBlocks * kBytes, MAP_PRIVATE | MAP_ANONYMOUS);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    static char page[1];
    for (std::size_t at = 0; at < kBlocks * kBytes; at += kPage) {
      const iovec from{&page[0], 1};
      const iovec to{block + at, 1};
      if (::process_vm_writev(parent, &from, 1, &to, 1, 0) != 1) ::_exit(77);
    }
    ::_exit(0);
  }
  return wait_for(child);
}

constexpr Way kWays[] = {
    {"shared", by_shared_memory},
    {"memfd-private", by_private_memfd},
    {"uffd-number", by_userfault_number},
    {"uffd-instruction", by_userfault_instruction},
    {"populate", by_populate},
    {"read", by_read},
    {"mremap", by_mremap},
    {"mremap-over", by_mremap_over},
    {"brk", by_brk},
    {"dontneed", by_dontneed},
    {"instruction", by_instruction},
    {"writev", from_another_process},
};

}  // namespace

std::span<const Way> memory_ways() { return kWays; }
