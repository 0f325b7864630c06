#pragma once

#include <vector>

#include "record/arena.h"
#include "record/processes.h"
#include "record/run_watch.h"
#include "record/tax.h"

namespace zerotax::record {

/// Returns the costs that the share of CPU time omits: shared memory, zero pages, copies in fork, freeing memory at
/// exit, and waiting for a quota. `missed` are the programs that recorded nothing.
std::vector<BesideRow> beside_of(const SeenRun& seen, const RunWatch* watch, const RecordArena& arena,
                                 const ForegroundResult& run, const std::vector<NotFollowed>& missed);

}  // namespace zerotax::record
