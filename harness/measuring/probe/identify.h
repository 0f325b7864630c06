#pragma once

namespace zerotax {

/// Writes which objects malloc, calloc, realloc and free come from in this process, the allocator's version, the layout
/// of sample blocks and the cases as "key=value" lines: into the file that the driver gave as `fd`, or to standard
/// output. The last line is "end=1". Returns the exit status.
int identify(int fd);

}  // namespace zerotax
