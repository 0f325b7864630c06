#pragma once

namespace zerotax::record {

/// Has the C library's own calls of _exit (in quick_exit, daemon, a failed child of system) come to us, too.
void watch_end();

}  // namespace zerotax::record
