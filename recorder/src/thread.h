#pragma once

#include "ring.h"

namespace zerotax::recorder {

/// Returns the calling thread's buffer, of this generation or an earlier one, or nullptr if there is none.
Ring* own_ring();

/// Returns the calling thread's buffer, making it if needed. Returns nullptr if that fails, after reporting the reason.
Ring* attach();

/// Makes threads release their buffers when they end. Returns 0 or an errno value.
int watch_threads();

/// Undoes watch_threads().
void unwatch_threads();

}  // namespace zerotax::recorder
