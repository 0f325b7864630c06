#pragma once

#include <string>

#include "bench/result.h"

namespace zerotax::bench {

/// For people: the verdict in the first line, then a row for each benchmark, and what to do. At most 80 columns, but
/// for names and the line to paste.
std::string bench_text(const Report& report);

/// The median time of an iteration, "n/a" if there is none.
std::string time_text(const Observed& observed);

}  // namespace zerotax::bench
