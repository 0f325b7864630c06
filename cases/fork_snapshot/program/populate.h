#pragma once

#include <cstdint>
#include <string>

namespace snapshot {

/// Lets one call make writable all pages of a range (MADV_POPULATE_WRITE, Linux 5.14). Returns whether it did.
bool populate_for_writing(void* begin, std::uint64_t bytes);

/// Faults that the kernel counted for the calling thread in those calls, though no exception was taken.
std::int64_t faults_of_populating();

/// Why the kernel does not do that; empty if it does.
std::string why_no_populating();

}  // namespace snapshot
