#pragma once

#include <cstdint>

namespace zerotax {

/// One entry of /proc/PID/pagemap. No privilege is needed for one's own processes, but for the frame number.
/// Source: Documentation/admin-guide/mm/pagemap.rst.
class PagemapEntry {
 public:
  explicit PagemapEntry(std::uint64_t bits) : bits_(bits) {}
  [[nodiscard]] bool present() const { return bit(63); }
  [[nodiscard]] bool swapped() const { return bit(62); }
  /// A guard page (MADV_GUARD_INSTALL): its entry looks like a swapped page's. Told since Linux 6.15.
  [[nodiscard]] bool guard() const { return bit(58); }
  /// In memory or swapped.
  [[nodiscard]] bool populated() const { return (present() || swapped()) && !guard(); }
  /// A file's page, or one of shared memory.
  [[nodiscard]] bool of_file() const { return bit(61); }
  /// Mapped by this process alone.
  [[nodiscard]] bool exclusive() const { return bit(56); }
  /// Written since the process cleared its soft-dirty bits (Documentation/admin-guide/mm/soft-dirty.rst).
  [[nodiscard]] bool soft_dirty() const { return bit(55); }
  /// The number of the page frame of a present page; 0 for all but root (CAP_SYS_ADMIN).
  [[nodiscard]] std::uint64_t frame() const { return present() ? bits_ & ((std::uint64_t{1} << 55) - 1) : 0; }

 private:
  [[nodiscard]] bool bit(unsigned number) const { return (bits_ >> number & 1) != 0; }

  std::uint64_t bits_;
};

}  // namespace zerotax
