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

std::size_t bytes_of(long rounds) { return static_cast<std::size_t>(rounds) * kBytes; }

long in_a_file(int fd, long rounds) {
  const std::size_t bytes = bytes_of(rounds);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) ::_exit(77);
  write_pages(map(bytes, MAP_SHARED, fd), bytes);
  return rounds * kPages;
}

long by_userfaultfd(long rounds) {
  const int watcher = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | 1));
  uffdio_api api{};
  api.api = UFFD_API;
  if (watcher < 0 || ::ioctl(watcher, UFFDIO_API, &api) != 0) ::_exit(77);
  const std::size_t bytes = bytes_of(rounds);
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

long in_a_mapping(long rounds) {
  write_pages(map(bytes_of(rounds)), bytes_of(rounds));
  return rounds * kPages;
}

long by_raw_munmap(long rounds) {
  for (long i = 0; i < rounds; ++i) {
    void* const begin = map(kBytes);
    write_pages(begin, kBytes);
    instructions::system_call(SYS_munmap, reinterpret_cast<long>(begin), kBytes);
  }
  return rounds * kPages;
}

long by_raw_madvise(long rounds) {
  void* const begin = map(kBytes);
  for (long i = 0; i < rounds; ++i) {
    write_pages(begin, kBytes);
    instructions::system_call(SYS_madvise, reinterpret_cast<long>(begin), kBytes, MADV_DONTNEED);
  }
  return rounds * kPages;
}

long by_brk(long rounds, long (*move)(long end)) {
  const long begin = (move(0) + static_cast<long>(kPage) - 1) / static_cast<long>(kPage) * static_cast<long>(kPage);
  for (long i = 0; i < rounds; ++i) {
    move(begin + static_cast<long>(kBytes));
    write_pages(reinterpret_cast<void*>(begin), kBytes);
    move(begin);
  }
  return rounds * kPages;
}

long by_raw_brk(long rounds) {
  return by_brk(rounds, [](long end) { return instructions::system_call(SYS_brk, end); });
}

long by_brk_number(long rounds) {
  return by_brk(rounds, [](long end) { return ::syscall(SYS_brk, end); });
}

long by_mmap_number(long rounds) {
  const auto fixed = static_cast<long>(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
  const auto begin = reinterpret_cast<long>(map(kBytes));
  for (long i = 0; i < rounds; ++i) {
    write_pages(reinterpret_cast<void*>(begin), kBytes);
    ::syscall(SYS_mmap, begin, kBytes, PROT_READ | PROT_WRITE, fixed, -1, 0);
  }
  return rounds * kPages;
}

long in_sysv_memory(long rounds) {
  const int segment = ::shmget(IPC_PRIVATE, bytes_of(rounds), IPC_CREAT | 0600);
  void* const begin = ::shmat(segment, nullptr, 0);
  ::shmctl(segment, IPC_RMID, nullptr);
  if (segment < 0 || reinterpret_cast<long>(begin) == -1) ::_exit(77);
  write_pages(begin, bytes_of(rounds));
  return rounds * kPages;
}

long in_a_memfd(long rounds) { return in_a_file(::memfd_create("bypass", 0), rounds); }

long in_posix_memory(long rounds) {
  const int fd = ::shm_open("/zerotax-bypass", O_RDWR | O_CREAT, 0600);
  ::shm_unlink("/zerotax-bypass");
  return in_a_file(fd, rounds);
}

long in_a_truncated_memfd(long rounds) {
  const int fd = ::memfd_create("bypass", 0);
  void* const begin = map(kBytes, MAP_SHARED, fd);
  for (long i = 0; i < rounds; ++i) {
    if (::ftruncate(fd, 0) != 0 || ::ftruncate(fd, static_cast<off_t>(kBytes)) != 0) ::_exit(77);
    write_pages(begin, kBytes);
  }
  return rounds * kPages;
}

long by_collapse(long rounds) {
  const std::size_t all = bytes_of(rounds);
  const auto begin = (reinterpret_cast<std::uintptr_t>(map(all + 2 * kHuge)) + kHuge - 1) / kHuge * kHuge;
  auto* const memory = reinterpret_cast<void*>(begin);
  for (std::uintptr_t at = begin; at < begin + all; at += kHuge) *reinterpret_cast<volatile char*>(at) = 1;
  if (::madvise(memory, all, 25) != 0) ::_exit(77);  // MADV_COLLAPSE
  return rounds * kPages;
}

long in_pages_read_before(long rounds) {
  void* const begin = map(bytes_of(rounds));
  read_pages(begin, bytes_of(rounds));
  write_pages(begin, bytes_of(rounds));
  return rounds * kPages;
}

long in_pages_never_written(long rounds) {
  for (long i = 0; i < rounds; ++i) {
    void* const begin = map(kBytes);
    read_pages(begin, kBytes);
    ::munmap(begin, kBytes);
  }
  return 0;
}

long before_forks(long rounds) {
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

long in_hugetlb(long rounds) {
  void* const huge = map(4 * kHuge, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
  write_pages(huge, 4 * kHuge);
  write_pages(map(bytes_of(rounds)), bytes_of(rounds));
  return rounds * kPages + 4 * static_cast<long>(kHuge / kPage);
}

long in_returned_hugetlb(long /*rounds*/) {
  void* const huge = map(4 * kHuge, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
  for (int i = 0; i < 4; ++i) {
    write_pages(huge, 4 * kHuge);
    static_cast<void>(
        ::mmap(huge, 4 * kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_FIXED, -1, 0));
  }
  ::munmap(huge, 4 * kHuge);
  return 16 * static_cast<long>(kHuge / kPage);
}

struct Way {
  const char* name;
  long (*count)(long rounds);
};

constexpr Way kWays[] = {
    {"mapped", in_a_mapping},
    {"raw-munmap", by_raw_munmap},
    {"raw-madvise", by_raw_madvise},
    {"brk-by-number", by_brk_number},
    {"raw-brk", by_raw_brk},
    {"mmap-by-number", by_mmap_number},
    {"sysv", in_sysv_memory},
    {"memfd", in_a_memfd},
    {"shm_open", in_posix_memory},
    {"memfd-again", in_a_truncated_memfd},
    {"userfaultfd", by_userfaultfd},
    {"collapse", by_collapse},
    {"read-first", in_pages_read_before},
    {"read-only", in_pages_never_written},
    {"forks", before_forks},
    {"hugetlb", in_hugetlb},
    {"hugetlb-returned", in_returned_hugetlb},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (const Way& way : kWays) {
    if (std::strcmp(argv[1], way.name) != 0) continue;
    std::printf("%ld\n", way.count(std::atol(argv[2])));
    return 0;
  }
  return 2;
}
