#pragma once

#include <string>
#include <vector>

#include "judge/tax.h"

namespace zerotax::findings {

/// Returns the untouched loop of an allocator at one of kHeadlineSizes, or nullptr if it has no result.
const PointTax* headline_point(const Verdicts& verdicts, std::size_t allocator, std::uint64_t size);

/// Returns ranges as text, such as "64 KiB to 28 MiB and 100 MiB"; "never" if there are none. Of many ranges, only the
/// first few are named.
std::string spans_text(const std::vector<SizeSpan>& spans);

/// Returns where a property holds, such as "every size, 64 KiB to 1 GiB", "1 MiB and 4 MiB", "never" or "not known".
std::string ranges_text(const SizeRanges& ranges);

/// Returns a ratio of 1 or more as text, such as "1.3 times" or "about as much".
std::string times_text(double ratio);

/// Returns a time for a table. If calls differ, the text has the times of the two most frequent kinds, as in "17.0 /
/// 403 ms" or "310 µs / 39.1 ms".
std::string time_cell(const PointTax* point);

/// Returns "100 %", or "1/7 calls" if only some calls write zeros needlessly.
std::string redundant_cell(const PointTax* point);

/// Returns the time of one calloc at the allocator's worst size: "2.00 ms a call, 2,000 times that of glibc 2.36 (1.00
/// µs)".
std::string worst_text(const Verdicts& verdicts, const PointTax& point);

/// Returns a few sentences on one allocator.
std::string allocator_text(const Verdicts& verdicts, const AllocatorTax& tax);

}  // namespace zerotax::findings
