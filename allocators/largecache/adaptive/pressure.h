// Detects whether memory is short, for the machine or for the process's control group.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PRESSURE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PRESSURE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace zerotax::largecache {

/// Does not allocate. Files that cannot be read count as no pressure. `root` is prepended to every path, for tests.
class Pressure {
 public:
  explicit Pressure(const char* root = "");

  /// Whether memory is short. True if tasks waited for memory for more than a twentieth of the time since the last call
  /// (/proc/pressure/memory, "some"; the kernel's Documentation/accounting/psi.rst). Also true if the control group
  /// uses more than nine tenths of its limit (memory.max or memory.high of version 2, memory.limit_in_bytes of version
  /// 1).
  bool is_high();

  /// Returns the limit of the control group in bytes; UINT64_MAX if there is no limit or the limit cannot be read.
  [[nodiscard]] std::uint64_t group_limit() const;

 private:
  using Path = std::array<char, 512>;

  bool waits_for_memory();
  [[nodiscard]] bool group_is_near_its_limit() const;

  Path stall_{};
  Path usage_{};  // file with the control group's usage; empty without a group
  Path limit_{};
  Path high_{};  // only for version 2 of control groups
  std::uint64_t last_stall_us_ = 0;
  std::uint64_t last_time_us_ = 0;
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PRESSURE_H_
