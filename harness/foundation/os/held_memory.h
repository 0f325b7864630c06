#pragma once

#include <cstdint>

#include "os/unique_fd.h"

namespace zerotax {

/// The anonymous memory of this process, to the byte, as the kernel counts it when it is asked: "Anonymous" and
/// "AnonHugePages" of /proc/self/smaps_rollup (Linux 4.14). Allocates nothing after it was made. It takes some 10 ms
/// for each GiB in small pages.
class HeldMemory {
 public:
  struct Bytes {
    std::int64_t all = 0;
    std::int64_t huge = 0;  ///< those in transparent huge pages
  };

  HeldMemory();
  [[nodiscard]] bool available() const { return static_cast<bool>(file_); }
  /// Nothing is held where it is not available.
  [[nodiscard]] Bytes read() const;

 private:
  UniqueFd file_;
};

/// Bytes of page tables of a process, of every level but the topmost: VmPTE of its file "status" in /proc (proc(5);
/// mm_pgtables_bytes in the kernel). Negative if /proc does not say. Allocates nothing.
std::int64_t page_table_bytes(const char* status_file);

/// The same of the calling process.
inline std::int64_t own_page_table_bytes() { return page_table_bytes("/proc/self/status"); }

}  // namespace zerotax
