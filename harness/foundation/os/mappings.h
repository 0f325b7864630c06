#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/page.h"

namespace zerotax {

/// One line of /proc/self/maps.
struct Mapping {
  AddressRange range;
  bool readable;
  bool writable;
  bool shared;
  std::uint64_t inode;  ///< 0 if anonymous, as is a private mapping of /dev/zero
  bool heap;            ///< memory grown by brk(2)
  bool stack;           ///< stack of the first thread
  bool memory_file;     ///< mapping of memory that the kernel treats as a file: of a memfd, shared anonymous memory,
                        ///< System V shared memory or /dev/shm
  bool hugetlb;         ///< anonymous memory in pages of hugetlbfs (MAP_HUGETLB), which the kernel lists as a file
  bool made_code;       ///< executable memory that is anonymous or belongs to a memfd

  /// Whether this mapping is private anonymous memory, whose unpopulated pages read as zero.
  [[nodiscard]] bool zero_filled() const { return inode == 0 && !shared; }
  /// Whether the kernel zeroes the pages for the shared memory as a whole, not for this mapping alone.
  [[nodiscard]] bool zeroed_elsewhere() const { return shared || memory_file; }
};

/// Whether a mapping with this name belongs to a memfd, System V shared memory or /dev/shm.
bool is_shared_memory_name(std::string_view name);

/// Calls `visit(context, mapping)` for every mapping of this process, in ascending order of addresses. Allocates
/// nothing. Returns false if /proc/self/maps cannot be read.
bool for_each_mapping(void (*visit)(void* context, const Mapping& mapping), void* context);
/// Calls `visit` in the same way, reading from an open descriptor of /proc/self/maps.
bool for_each_mapping(int maps, void (*visit)(void* context, const Mapping& mapping), void* context);

/// Calls `visit`, any callable, in the same way.
template <typename Visit>
bool for_each_mapping(Visit visit) {
  return for_each_mapping([](void* context, const Mapping& mapping) { (*static_cast<Visit*>(context))(mapping); },
                          &visit);
}

}  // namespace zerotax
