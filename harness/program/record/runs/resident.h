#pragma once

#include "record/runs/result.h"

namespace zerotax::record::runs {

/// Adds the metrics of resident memory to a run whose processes are known: sums over all processes, and over the
/// processes of each name.
void put_resident(const Resident& resident, CommandRun& run);

}  // namespace zerotax::record::runs
