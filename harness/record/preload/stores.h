#pragma once

#include <cstddef>

namespace zerotax::record {

/// Replaces the C library's own slots of memset and its kin, which no preloaded function comes before. Returns how
/// many.
std::size_t hook_libc_stores();

}  // namespace zerotax::record
