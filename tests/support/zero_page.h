#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <fstream>
#include <string>

namespace zerotax {

/// Reads a byte of each page. Under the thread sanitizer, each read would also populate memory of the sanitizer.
[[gnu::no_sanitize("thread")]] inline void read_pages(const volatile char* memory, std::size_t pages) {
  constexpr std::size_t kBytesOfPage = 4096;
  for (std::size_t i = 0; i < pages; ++i) static_cast<void>(memory[i * kBytesOfPage]);
}

/// Whether a page that is only read is the kernel's shared zero page. Some kernels do not give programs this page:
/// kernels of virtual machines without hardware support (PVM, pvm_no_zero_page=1), and of s390 with storage keys.
inline bool has_shared_zero_page() {
  static const bool has = [] {
    constexpr std::size_t kPages = 64;
    constexpr std::size_t kBytesOfPage = 4096;
    const auto anonymous = [] {
      std::ifstream file("/proc/self/smaps_rollup");
      for (std::string line; std::getline(file, line);) {
        if (line.starts_with("Anonymous:")) return std::stol(line.substr(10));
      }
      return 0L;
    };
    void* memory = ::mmap(nullptr, kPages * kBytesOfPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return true;
    ::madvise(memory, kPages * kBytesOfPage, MADV_NOHUGEPAGE);
    const long before = anonymous();
    read_pages(static_cast<const volatile char*>(memory), kPages);
    const long grown_kib = anonymous() - before;
    ::munmap(memory, kPages * kBytesOfPage);
    return grown_kib < static_cast<long>(kPages * kBytesOfPage / 1024 / 2);
  }();
  return has;
}

}  // namespace zerotax
