#pragma once

#include <cstddef>

namespace zerotax {

/// A descriptor of the file that the driver gave under this number. Where the number is closed or another file's, which
/// an allocator did that closes descriptors not its own, the file is opened anew through the driver, our parent. -1 if
/// that fails, too. `bytes`: what the file has at least.
int inherited_file(int fd, std::size_t bytes);

/// Writes a line to standard error that begins with kProbeSays, without allocating; `error` is an errno, or 0.
void probe_say(const char* what, int error);

}  // namespace zerotax
