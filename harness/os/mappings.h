#pragma once

#include <cstddef>
#include <cstdint>

#include "os/page.h"

namespace zerotax {

/// One line of /proc/self/maps.
struct Mapping {
  AddressRange range;
  bool readable;
  bool writable;
  bool shared;
  std::uint64_t inode;  ///< 0: anonymous
  bool heap;            ///< grown by brk(2)

  /// Private anonymous memory: a page that is not populated reads as zero, by the kernel's word.
  [[nodiscard]] bool zero_filled() const { return inode == 0 && !shared; }
};

/// Calls `visit(context, mapping)` for every mapping of this process, in ascending order; allocates nothing.
/// Returns false if /proc/self/maps cannot be read.
bool for_each_mapping(void (*visit)(void* context, const Mapping& mapping), void* context);

/// The same for any callable.
template <typename Visit>
bool for_each_mapping(Visit visit) {
  return for_each_mapping([](void* context, const Mapping& mapping) { (*static_cast<Visit*>(context))(mapping); },
                          &visit);
}

}  // namespace zerotax
