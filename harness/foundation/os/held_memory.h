#pragma once

#include <cstdint>

#include "os/unique_fd.h"

namespace zerotax {

/// Reads the exact anonymous memory of this process: "Anonymous" and "AnonHugePages" of /proc/self/smaps_rollup (since
/// Linux 4.14). Allocates nothing after construction. A read takes some 10 ms per GiB in small pages.
class HeldMemory {
 public:
  struct Bytes {
    std::int64_t all = 0;
    std::int64_t huge = 0;  ///< bytes in transparent huge pages
  };

  HeldMemory();
  [[nodiscard]] bool available() const { return static_cast<bool>(file_); }
  /// Returns zeros if the file is unavailable.
  [[nodiscard]] Bytes read() const;

 private:
  UniqueFd file_;
};

/// Returns the bytes of a process's page tables, at every level but the topmost: VmPTE in /proc/PID/status. Negative if
/// unavailable. Allocates nothing. Source: proc(5); mm_pgtables_bytes in the kernel.
std::int64_t page_table_bytes(const char* status_file);

/// Returns the bytes of the calling process's page tables.
inline std::int64_t own_page_table_bytes() { return page_table_bytes("/proc/self/status"); }

}  // namespace zerotax
