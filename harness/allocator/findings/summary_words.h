#pragma once

#include <string>
#include <vector>

#include "judge/tax.h"

namespace zerotax::findings {

/// The untouched loop of an allocator at one of kHeadlineSizes; nullptr if it has no result.
const PointTax* headline_point(const Verdicts& verdicts, std::size_t allocator, std::uint64_t size);

/// "64 KiB to 28 MiB and 100 MiB"; of many ranges only the first few; "never" if there are none.
std::string spans_text(const std::vector<SizeSpan>& spans);

/// The same, as an answer to where something holds: "every size, 64 KiB to 1 GiB", "1 MiB and 4 MiB", "never", "not
/// known".
std::string ranges_text(const SizeRanges& ranges);

/// A ratio of 1 or more: "1.3 times", "about as much".
std::string times_text(double ratio);

/// A time in a table; of calls that are not alike, the two most frequent kinds: "17.0 / 403 ms", "310 µs / 39.1 ms".
std::string time_cell(const PointTax* point);

/// "100 %", or "1/7 calls" where only some of them write zeros needlessly.
std::string redundant_cell(const PointTax* point);

/// What one calloc takes at its worst size: "2.00 ms a call, 2,000 times that of glibc 2.36 (1.00 µs)".
std::string worst_text(const Verdicts& verdicts, const PointTax& point);

/// One allocator in a few sentences.
std::string allocator_text(const Verdicts& verdicts, const AllocatorTax& tax);

}  // namespace zerotax::findings
