// Is memory short, for the machine or for the control group that the process is in?
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PRESSURE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PRESSURE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace zerotax::largecache {

/// Allocates nothing. What cannot be read counts as no pressure. `root` is prepended to every path; for tests.
class Pressure {
 public:
  explicit Pressure(const char* root = "");

  /// Since the last call: has any task waited for memory for more than a twentieth of the time (/proc/pressure/memory,
  /// "some"; the kernel's Documentation/accounting/psi.rst), or does the control group now use more than nine tenths of
  /// what it may (memory.max or memory.high of version 2, memory.limit_in_bytes of version 1)?
  bool is_high();

  /// Bytes that the control group may use; UINT64_MAX when there is no limit, or none can be read.
  [[nodiscard]] std::uint64_t group_limit() const;

 private:
  using Path = std::array<char, 512>;

  bool waits_for_memory();
  [[nodiscard]] bool group_is_near_its_limit() const;

  Path stall_{};
  Path usage_{};  // of the control group; empty: none
  Path limit_{};
  Path high_{};  // version 2 alone
  std::uint64_t last_stall_us_ = 0;
  std::uint64_t last_time_us_ = 0;
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PRESSURE_H_
