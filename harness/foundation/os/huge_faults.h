#pragma once

#include <cstdint>
#include <optional>

namespace zerotax {

/// Bytes that all processes of this machine ever had populated in pieces larger than a page, a fault each: by the
/// counters of transparent huge pages (anon_fault_alloc of each size; before Linux 6.10 thp_fault_alloc of
/// /proc/vmstat). Nothing if the kernel does not say.
std::optional<std::uint64_t> huge_fault_bytes();
/// The same counter for shared memory (shmem_alloc; before Linux 6.10, thp_file_alloc).
std::optional<std::uint64_t> huge_shared_bytes();

}  // namespace zerotax
