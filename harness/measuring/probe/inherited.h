#pragma once

#include <cstddef>

namespace zerotax {

/// A descriptor of the file that the driver gave under this number. An allocator that closes descriptors not its own
/// may have closed it, and the number may be another file's by now: then the file is opened again through the driver,
/// our parent. -1 if that fails, too. `bytes`: the least size of the file.
int inherited_file(int fd, std::size_t bytes);

/// Writes a line to standard error that begins with kProbeSays, without allocating; `error` is an errno, or 0.
void probe_say(const char* what, int error);

}  // namespace zerotax
