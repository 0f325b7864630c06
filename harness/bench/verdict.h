#pragma once

#include <string>

#include "bench/result.h"

namespace zerotax::bench {

/// Whether an iteration costs something else: by a fault or 4 KiB, and a tenth of the more. False if one is n/a.
bool differ(const Measured<Counts>& one, const Measured<Counts>& other);

/// Whether its counts do.
bool depends_on_order(const Benchmark& benchmark);

/// "7.88 MiB", of a mean.
std::string bytes_words(double bytes);

/// Puts the verdict of each benchmark, and of all, in place: counts by their difference, times by their pairs.
void judge(Report& report);

/// "1.71 times (1.65 to 1.77)", with the 95 % interval; "n/a" if nothing was timed.
std::string ratio_words(const TimeVerdict& time);

}  // namespace zerotax::bench
