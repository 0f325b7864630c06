#pragma once

#include <string>
#include <vector>

namespace zerotax {

/// Returns the numbers in a list that the kernel wrote: "0-1,3" is 0, 1 and 3
/// (Documentation/admin-guide/cputopology.rst). If the list is malformed, returns the numbers before the error.
std::vector<unsigned> numbers_of_list(const std::string& text);

/// Returns the NUMA nodes that have memory, from /sys/devices/system/node/has_memory. Returns only node 0 if the kernel
/// has no such file.
std::vector<unsigned> numa_nodes();

}  // namespace zerotax
