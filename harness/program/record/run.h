#pragma once

#include <string>

#include "record/launch.h"
#include "record/resident/watch.h"
#include "record/result.h"
#include "record/run_watch.h"

namespace zerotax::record {

/// Returns the record of a run. `watch` has watched the run, and was stopped. Without `watch`, less is known about
/// processes that were killed. `resident` has divided resident memory, and was stopped.
Record record_result(const RecordTarget& target, const ForegroundResult& run, RecordArena& arena,
                     const std::string& started, const RunWatch* watch = nullptr,
                     const ResidentWatch* resident = nullptr);

}  // namespace zerotax::record
