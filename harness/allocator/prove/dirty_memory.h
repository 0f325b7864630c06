#pragma once

#include "prove/record_file.h"

namespace zerotax::prove {

/// Returns operations that repeat `ops` on memory that is not zero: they first fill and free many blocks of the same
/// sizes. A program starts with zeroed memory, so a missing zero does not show there. Allocators reuse freed blocks
/// only after the rest of a run of blocks, so `ops` are repeated. Returns at most kLongestProgram operations, or `ops`
/// itself if there is no room for more.
Ops on_dirty_memory(const Ops& ops);

}  // namespace zerotax::prove
