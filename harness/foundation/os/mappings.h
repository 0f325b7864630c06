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
  std::uint64_t inode;  ///< 0: anonymous; so is a private mapping of /dev/zero
  bool heap;            ///< grown by brk(2)
  bool stack;           ///< of the first thread
  bool memory_file;     ///< of a file in memory alone: memfd, shared anonymous memory, System V shared memory, /dev/shm
  bool hugetlb;         ///< anonymous memory in pages of hugetlbfs (MAP_HUGETLB), which the kernel lists as a file
  bool made_code;       ///< executable, and of no file: anonymous, or of a memfd

  /// Private anonymous memory: a page that is not populated reads as zero, by the kernel's word.
  [[nodiscard]] bool zero_filled() const { return inode == 0 && !shared; }
  /// Memory whose pages the kernel zeroes, but not when this mapping is given them.
  [[nodiscard]] bool zeroed_elsewhere() const { return shared || memory_file; }
};

/// Whether a mapping with this name is of a memfd, System V shared memory or /dev/shm.
bool is_shared_memory_name(std::string_view name);

/// Calls `visit(context, mapping)` for every mapping of this process, in ascending order; allocates nothing.
/// Returns false if /proc/self/maps cannot be read.
bool for_each_mapping(void (*visit)(void* context, const Mapping& mapping), void* context);
/// The same of a descriptor of that file.
bool for_each_mapping(int maps, void (*visit)(void* context, const Mapping& mapping), void* context);

/// The same for any callable.
template <typename Visit>
bool for_each_mapping(Visit visit) {
  return for_each_mapping([](void* context, const Mapping& mapping) { (*static_cast<Visit*>(context))(mapping); },
                          &visit);
}

}  // namespace zerotax
