#pragma once

#include <string>

#include "base/answer.h"
#include "record/result.h"

namespace zerotax::record {

/// Returns the default text of record --resident. `record` has resident memory.
Answer resident_answer(const Record& record);

/// Returns the part of --full and --text about resident memory: all processes with their moments, heaps and sites.
/// Empty if resident memory was not divided.
std::string resident_text(const Record& record);

}  // namespace zerotax::record
