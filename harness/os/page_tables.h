#pragma once

#include <cstdint>

namespace zerotax {

/// Bytes of page tables of the calling process, of every level but the topmost: VmPTE of /proc/self/status (proc(5);
/// mm_pgtables_bytes in the kernel). Negative if /proc does not say. Allocates nothing.
std::int64_t own_page_table_bytes();

}  // namespace zerotax
