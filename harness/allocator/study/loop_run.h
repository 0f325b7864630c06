#pragma once

#include "base/error.h"
#include "cli/measure_options.h"

namespace zerotax::study {

/// `zerotax run --loop`: a loop of calloc beside one of malloc, for each allocator and size, as a table and as JSON.
/// `seconds`: how long a loop may take. Throws UsageError.
ExitStatus run_loop(const MeasureOptions& options, double seconds);

}  // namespace zerotax::study
