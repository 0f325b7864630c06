#pragma once

#include <cstdint>
#include <string>

namespace zerotax {

/// The only C++ code that formats times, bytes, counts and ratios for people. This file, plots/zerotax_plots/units.py
/// and the page's units.js must agree on the examples in tests/units_cases.json.

/// Formats bytes in the largest unit that is exact or has three digits: "100 MiB", "1.50 KiB", "12 B".
std::string format_size(std::uint64_t bytes);

/// Formats bytes in the unit of a user's request: "100 MB", although this is not a round number of MiB. Any other
/// number is formatted as by format_size.
std::string format_given_size(std::uint64_t bytes);

/// Formats bytes as an option accepts them, never rounded: "20MiB", "100MB", "5000".
std::string size_word(std::uint64_t bytes);

/// Formats nanoseconds with a unit and three digits: "850 ns", "1.23 µs", "45.6 ms", "12.0 s".
std::string format_ns(double ns);

/// Formats a count with thousands separators: "1,234,567".
std::string format_count(std::uint64_t count);

/// Formats a count with its noun: "1 size", "2 sizes". `plural` is needed if it is not the singular plus "s".
std::string format_counted(std::uint64_t count, const char* singular, const char* plural = nullptr);

/// Formats a ratio with two digits: "3.2", "45", "3,100".
std::string format_ratio(double ratio);

/// Formats a rate or any other number with three digits: "0.5", "12.3", "1,930", "45.6 M".
std::string format_number(double value);

/// Formats a share of 1 as a percentage: "12.5 %", or "12 %" where tenths are meaningless.
std::string format_percent(double share);
std::string format_whole_percent(double share);

}  // namespace zerotax
