#pragma once

#include <cstdint>

namespace zerotax {

/// Bytes of page tables of a process, of every level but the topmost: VmPTE of its file "status" in /proc (proc(5);
/// mm_pgtables_bytes in the kernel). Negative if /proc does not say. Allocates nothing.
std::int64_t page_table_bytes(const char* status_file);

/// The same of the calling process.
inline std::int64_t own_page_table_bytes() { return page_table_bytes("/proc/self/status"); }

}  // namespace zerotax
