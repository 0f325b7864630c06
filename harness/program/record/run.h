#pragma once

#include <string>

#include "record/launch.h"
#include "record/result.h"
#include "record/run_watch.h"

namespace zerotax::record {

/// Everything about one recorded run. `watch` saw it from outside, and was stopped; without one less is known of
/// processes that were killed.
Record record_result(const RecordTarget& target, const ForegroundResult& run, RecordArena& arena,
                     const std::string& started, const RunWatch* watch = nullptr);

}  // namespace zerotax::record
