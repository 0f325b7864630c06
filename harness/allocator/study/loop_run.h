#pragma once

#include "base/error.h"
#include "cli/measure_options.h"

namespace zerotax::study {

/// Runs `zerotax run --loop`: a loop of calloc and a loop of malloc for each allocator and size. Prints a table, or
/// writes JSON. `seconds` is the time limit of a loop. Throws UsageError.
ExitStatus run_loop(const MeasureOptions& options, double seconds);

}  // namespace zerotax::study
