#pragma once

#include <string>
#include <vector>

#include "findings/tax.h"

namespace zerotax::study {

/// What the table and the first figure are about, in bytes.
inline constexpr std::uint64_t kHeadlineSizes[] = {100 << 20, 1000 << 20};

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names);

/// "64 KiB to 28 MiB and 100 MiB"; of many ranges only the first few; "never" if there are none.
std::string spans_text(const std::vector<findings::SizeSpan>& spans);

/// The same, as an answer to where something holds: "every size, 64 KiB to 1 GiB", "1 MiB and 4 MiB", "never", "not
/// known".
std::string ranges_text(const findings::SizeRanges& ranges);

/// A ratio of 1 or more: "1.3 times", "about as much".
std::string times_text(double ratio);

/// A time in a table; of calls that are not alike, the two most frequent kinds: "17.0 / 403 ms", "310 µs / 39.1 ms".
std::string time_cell(const findings::PointVerdict* point);

/// "100 %", or "1/7 calls" where only some of them write zeros needlessly.
std::string redundant_cell(const findings::PointVerdict* point);

/// What one calloc takes at its worst size: "2.00 ms a call, 2,000 times that of glibc 2.36 (1.00 µs)".
std::string worst_text(const findings::Verdicts& verdicts, const findings::PointVerdict& point);

/// One allocator in a few sentences.
std::string allocator_text(const findings::Verdicts& verdicts, const findings::AllocatorTax& tax);

}  // namespace zerotax::study
