#pragma once

#include "hostile.h"

namespace planted {

/// MADV_GUARD_INSTALL, which drops the pages, and MADV_GUARD_REMOVE; MADV_DONTNEED where the kernel has no guards.
inline void drop_by_guards(char* block, std::size_t bytes) {
  constexpr int kGuardInstall = 102;
  constexpr int kGuardRemove = 103;
  if (::madvise(block, page_ceiling(bytes), kGuardInstall) != 0) ::madvise(block, page_ceiling(bytes), MADV_DONTNEED);
  ::madvise(block, page_ceiling(bytes), kGuardRemove);
}

}  // namespace planted
