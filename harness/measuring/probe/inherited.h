#pragma once

#include <cstddef>

namespace zerotax {

/// Returns a descriptor of the file that the driver passed under this number. An allocator may have closed descriptors
/// that it did not open, and the number may belong to another file by now. In this case, opens the file again through
/// the driver, which is the parent process. Returns -1 if the file cannot be opened. `bytes` is the minimum size of the
/// file.
int inherited_file(int fd, std::size_t bytes);

/// Writes a line to standard error that begins with kProbeSays, without allocating. `error` is an errno, or 0.
void probe_say(const char* what, int error);

}  // namespace zerotax
