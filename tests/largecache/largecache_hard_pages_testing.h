// Kernel features that the hard cases about pages need: swap, huge pages, and the pagemap.
#ifndef ZEROTAX_TESTS_UNIT_LARGECACHE_HARD_PAGES_TESTING_H_
#define ZEROTAX_TESTS_UNIT_LARGECACHE_HARD_PAGES_TESTING_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "largecache_testing.h"

namespace zerotax::largecache {

inline constexpr int kPageOut = 21;   // MADV_PAGEOUT, since Linux 5.4
inline constexpr int kCollapse = 25;  // MADV_COLLAPSE, since Linux 6.1

/// Returns the number of pages in the range for which /proc/self/pagemap has this bit. Bit 62 means swapped (or a
/// guard), bit 63 present.
inline std::size_t pages_with_bit(const char* start, std::size_t size, int bit) {
  std::vector<std::uint64_t> entries(size / kPage);
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const auto bytes = static_cast<ssize_t>(entries.size() * 8);
  const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(start) / kPage * 8);
  if (file < 0 || pread(file, entries.data(), entries.size() * 8, at) != bytes) entries.clear();
  if (file >= 0) close(file);
  std::size_t pages = 0;
  for (const std::uint64_t entry : entries) pages += entry >> bit & 1;
  return pages;
}

/// Makes the kernel write the pages of the range to swap. Returns the number of pages written. The kernel keeps some
/// pages in memory, sometimes all.
inline std::size_t page_out(char* start, std::size_t size) {
  std::size_t swapped = 0;
  for (int trial = 0; trial < 50 && swapped < size / kPage; ++trial) {
    madvise(start, size, kPageOut);
    swapped = pages_with_bit(start, size, 62);
    if (swapped < size / kPage) usleep(2000);
  }
  return swapped;
}

/// Returns the KiB in the line "name: N kB" of /proc/self/smaps for the mapping that holds `address`.
inline std::size_t in_smaps(const void* address, const std::string& name) {
  std::ifstream smaps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(smaps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::istringstream words(line);
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      const auto at = reinterpret_cast<std::uintptr_t>(address);
      here = begin <= at && at < end;
    } else if (here && line.starts_with(name + ":")) {
      return std::strtoul(line.c_str() + name.size() + 1, nullptr, 10);
    }
  }
  return 0;
}

/// Returns the file's first line, or "" if the file cannot be read.
inline std::string line_of(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

/// Writes to a file of the kernel. Returns false if the kernel refuses the write.
inline bool set(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  return static_cast<bool>(file << text << std::flush);
}

/// A swap file of 32 MiB in /tmp, for the lifetime of this object. Needs root.
class Swap {
 public:
  Swap() {
    path_ = "/tmp/largecache_hard_swap_" + std::to_string(getpid());
    if (geteuid() != 0) {
      why_not_ = "swapon needs root";
      return;
    }
    std::ofstream(path_) << std::string(32 * kMiB, '\0');
    if (chmod(path_.c_str(), 0600) != 0 || std::system(("mkswap " + path_ + " >/dev/null 2>&1").c_str()) != 0) {
      why_not_ = "mkswap failed";
    } else if (swapon(path_.c_str(), 0) != 0) {
      why_not_ = std::string("swapon: ") + std::strerror(errno);
    }
    on_ = why_not_.empty();
  }
  ~Swap() {
    if (on_) swapoff(path_.c_str());
    unlink(path_.c_str());
  }
  Swap(const Swap&) = delete;
  Swap& operator=(const Swap&) = delete;

  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  std::string path_;
  std::string why_not_;
  bool on_ = false;
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_TESTS_UNIT_LARGECACHE_HARD_PAGES_TESTING_H_
