#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace snapshot {

/// Lets one call make writable all pages of a range (MADV_POPULATE_WRITE, Linux 5.14). Returns whether it did.
bool populate_for_writing(void* begin, std::uint64_t bytes);

/// Faults that the kernel counted for the calling thread in those calls, though no exception was taken.
std::int64_t faults_of_populating();

/// Why something does not work on so many bytes of new memory, which begin at a multiple of so many; empty if it works.
/// `what`: stands before the error.
std::string why_not_on_memory(std::size_t bytes, const std::string& what, const std::function<bool(void*)>& works);

/// Why the kernel does not do that; empty if it does.
std::string why_no_populating();

}  // namespace snapshot
