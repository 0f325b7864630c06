#pragma once

#include "hostile.h"

namespace planted {

/// Drops the pages by MADV_GUARD_INSTALL and removes the guards again. Uses MADV_DONTNEED if the kernel has no guards.
inline void drop_by_guards(char* block, std::size_t bytes) {
  constexpr int kGuardInstall = 102;
  constexpr int kGuardRemove = 103;
  if (::madvise(block, page_ceiling(bytes), kGuardInstall) != 0) ::madvise(block, page_ceiling(bytes), MADV_DONTNEED);
  ::madvise(block, page_ceiling(bytes), kGuardRemove);
}

}  // namespace planted
