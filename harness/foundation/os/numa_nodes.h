#pragma once

#include <string>
#include <vector>

namespace zerotax {

/// Numbers from a list as the kernel writes it: "0-1,3" is 0, 1 and 3 (Documentation/admin-guide/cputopology.rst). Of
/// what is no such list, what stands before the error.
std::vector<unsigned> numbers_of_list(const std::string& text);

/// The NUMA nodes that have memory, by /sys/devices/system/node/has_memory; node 0 alone where the kernel has none of
/// that.
std::vector<unsigned> numa_nodes();

}  // namespace zerotax
