#pragma once

namespace zerotax {

/// Prints which objects malloc, calloc, realloc and free come from in this process, and the allocator's version, as
/// "key=value" lines on standard output (malloc_library: the file of each). Returns the exit status.
int identify();

}  // namespace zerotax
