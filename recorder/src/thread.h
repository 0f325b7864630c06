#pragma once

#include "ring.h"

namespace zerotax::recorder {

/// The calling thread's buffer, of this generation or an earlier one; nullptr: none.
Ring* own_ring();

/// The calling thread's buffer, made if needed; nullptr if it cannot be made, and the reason was reported.
Ring* attach();

/// Makes threads give their buffer back when they end. Returns 0 or an errno value.
int watch_threads();

/// Undoes that.
void unwatch_threads();

}  // namespace zerotax::recorder
