#pragma once

#include "ring.h"

namespace zerotax::recorder {

/// The calling thread's buffer, of this generation or an earlier one; nullptr: none.
Ring* own_ring();

/// The calling thread's buffer, made if need be; nullptr: there is none, and why was said.
Ring* attach();

/// Arranges that threads that end give their buffer back. Returns 0 or an errno value.
int watch_threads();

/// No longer.
void unwatch_threads();

}  // namespace zerotax::recorder
