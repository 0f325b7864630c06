// Makes the kernel zero a known number of pages by a method that is hard to see. Usage: bypass WAY ROUNDS. Prints the
// number of pages.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "instructions.h"

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20;
constexpr std::size_t kHuge = std::size_t{2} << 20;
const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
const long kPages = static_cast<long>(kBytes / kPage);

void write_pages(void* begin, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kPage) static_cast<volatile char*>(begin)[i] = 1;
}

void read_pages(const void* begin, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kPage) static_cast<void>(static_cast<const volatile char*>(begin)[i]);
}

void* map(std::size_t bytes, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int fd = -1) {
  void* begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (begin == MAP_FAILED) ::_exit(77);
  return begin;
}

long in_a_file(int fd, long rounds) {
  const std::size_t bytes = static_cast<std::size_t>(rounds) * kBytes;
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) ::_exit(77);
  write_pages(map(bytes, MAP_SHARED, fd), bytes);
  return rounds * kPages;
}

long by_userfaultfd(long rounds) {
  const int watcher = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | 1));
  uffdio_api api{};
  api.api = UFFD_API;
  if (watcher < 0 || ::ioctl(watcher, UFFDIO_API, &api) != 0) ::_exit(77);
  const std::size_t bytes = static_cast<std::size_t>(rounds) * kBytes;
  void* const source = map(kPage);
  write_pages(source, kPage);
  const uffdio_range range{reinterpret_cast<std::uint64_t>(map(bytes)), bytes};
  uffdio_register registration{range, UFFDIO_REGISTER_MODE_MISSING, 0};
  if (::ioctl(watcher, UFFDIO_REGISTER, &registration) != 0) ::_exit(77);
  for (std::uint64_t at = range.start; at < range.start + bytes; at += kPage) {
    uffdio_copy copy{at, reinterpret_cast<std::uint64_t>(source), kPage, 0, 0};
    if (::ioctl(watcher, UFFDIO_COPY, &copy) != 0) ::_exit(9);
  }
  return 1;
}

long count(const char* way, long rounds) {
  const auto is = [&](const char* name) { return std::strcmp(way, name) == 0; };
  const std::size_t all = static_cast<std::size_t>(rounds) * kBytes;
  if (is("mapped")) {
    write_pages(map(all), all);
    return rounds * kPages;
  }
  if (is("raw-munmap")) {
    for (long i = 0; i < rounds; ++i) {
      void* const begin = map(kBytes);
      write_pages(begin, kBytes);
      instructions::system_call(SYS_munmap, reinterpret_cast<long>(begin), kBytes);
    }
    return rounds * kPages;
  }
  if (is("raw-madvise")) {
    void* const begin = map(kBytes);
    for (long i = 0; i < rounds; ++i) {
      write_pages(begin, kBytes);
      instructions::system_call(SYS_madvise, reinterpret_cast<long>(begin), kBytes, MADV_DONTNEED);
    }
    return rounds * kPages;
  }
  if (is("brk-by-number") || is("raw-brk")) {
    const auto move = [&](long end) {
      return is("raw-brk") ? instructions::system_call(SYS_brk, end) : ::syscall(SYS_brk, end);
    };
    const long begin = (move(0) + static_cast<long>(kPage) - 1) / static_cast<long>(kPage) * static_cast<long>(kPage);
    for (long i = 0; i < rounds; ++i) {
      move(begin + static_cast<long>(kBytes));
      write_pages(reinterpret_cast<void*>(begin), kBytes);
      move(begin);
    }
    return rounds * kPages;
  }
  if (is("mmap-by-number")) {
    const auto fixed = static_cast<long>(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
    const auto begin = reinterpret_cast<long>(map(kBytes));
    for (long i = 0; i < rounds; ++i) {
      write_pages(reinterpret_cast<void*>(begin), kBytes);
      ::syscall(SYS_mmap, begin, kBytes, PROT_READ | PROT_WRITE, fixed, -1, 0);
    }
    return rounds * kPages;
  }
  if (is("sysv")) {
    const int segment = ::shmget(IPC_PRIVATE, all, IPC_CREAT | 0600);
    void* const begin = ::shmat(segment, nullptr, 0);
    ::shmctl(segment, IPC_RMID, nullptr);
    if (segment < 0 || reinterpret_cast<long>(begin) == -1) ::_exit(77);
    write_pages(begin, all);
    return rounds * kPages;
  }
  if (is("memfd")) return in_a_file(::memfd_create("bypass", 0), rounds);
  if (is("shm_open")) {
    const int fd = ::shm_open("/zerotax-bypass", O_RDWR | O_CREAT, 0600);
    ::shm_unlink("/zerotax-bypass");
    return in_a_file(fd, rounds);
  }
  if (is("memfd-again")) {
    const int fd = ::memfd_create("bypass", 0);
    void* const begin = map(kBytes, MAP_SHARED, fd);
    for (long i = 0; i < rounds; ++i) {
      if (::ftruncate(fd, 0) != 0 || ::ftruncate(fd, static_cast<off_t>(kBytes)) != 0) ::_exit(77);
      write_pages(begin, kBytes);
    }
    return rounds * kPages;
  }
  if (is("userfaultfd")) return by_userfaultfd(rounds);
  if (is("collapse")) {
    const auto begin = (reinterpret_cast<std::uintptr_t>(map(all + 2 * kHuge)) + kHuge - 1) / kHuge * kHuge;
    auto* const memory = reinterpret_cast<void*>(begin);
    for (std::uintptr_t at = begin; at < begin + all; at += kHuge) *reinterpret_cast<volatile char*>(at) = 1;
    if (::madvise(memory, all, 25) != 0) ::_exit(77);  // MADV_COLLAPSE
    return rounds * kPages;
  }
  if (is("read-first")) {
    void* const begin = map(all);
    read_pages(begin, all);
    write_pages(begin, all);
    return rounds * kPages;
  }
  if (is("read-only")) {
    for (long i = 0; i < rounds; ++i) {
      void* const begin = map(kBytes);
      read_pages(begin, kBytes);
      ::munmap(begin, kBytes);
    }
    return 0;
  }
  if (is("forks")) {
    void* const begin = map(kBytes);
    write_pages(begin, kBytes);
    for (long i = 0; i < rounds; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::usleep(20'000);
        ::_exit(0);
      }
      write_pages(begin, kBytes);
      ::waitpid(child, nullptr, 0);
    }
    return kPages;
  }
  if (is("hugetlb")) {
    void* const huge = map(4 * kHuge, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
    write_pages(huge, 4 * kHuge);
    write_pages(map(all), all);
    return rounds * kPages + 4 * static_cast<long>(kHuge / kPage);
  }
  if (is("hugetlb-returned")) {
    void* const huge = map(4 * kHuge, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
    for (int i = 0; i < 4; ++i) {
      write_pages(huge, 4 * kHuge);
      static_cast<void>(::mmap(huge, 4 * kHuge, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_FIXED, -1, 0));
    }
    ::munmap(huge, 4 * kHuge);
    return 16 * static_cast<long>(kHuge / kPage);
  }
  ::_exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::printf("%ld\n", count(argv[1], std::atol(argv[2])));
  return 0;
}
