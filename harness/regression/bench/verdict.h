#pragma once

#include <string>

#include "bench/result.h"

namespace zerotax::bench {

/// Whether two counts of one iteration differ: by a tenth and by two (in bytes: two pages), or by half and by one.
bool differs(Unit unit, double one, double other);

/// Whether an iteration costs something else: page faults or zeroed bytes differ. False if one is n/a.
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
