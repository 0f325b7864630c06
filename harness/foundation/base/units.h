#pragma once

#include <cstdint>
#include <string>

namespace zerotax {

/// The only place in C++ that writes times, bytes, counts and ratios for people. tests/units_cases.json has examples
/// that this file, plots/zerotax_plots/units.py and the page's units.js must all agree on.

/// Bytes with the largest unit that keeps the number exact or to three digits: "100 MiB", "1.50 KiB", "12 B".
std::string format_size(std::uint64_t bytes);

/// Bytes as somebody gave them: "100 MB" is not a round number of MiB. Otherwise as format_size.
std::string format_given_size(std::uint64_t bytes);

/// Bytes as an option takes them, never rounded: "20MiB", "100MB", "5000".
std::string size_word(std::uint64_t bytes);

/// Nanoseconds with a unit and three digits: "850 ns", "1.23 µs", "45.6 ms", "12.0 s".
std::string format_ns(double ns);

/// "1,234,567".
std::string format_count(std::uint64_t count);

/// "1 size", "2 sizes": a count with its noun; `plural` where it is not the singular and an s.
std::string format_counted(std::uint64_t count, const char* singular, const char* plural = nullptr);

/// A ratio: "3.2", "45", "3,100", two digits.
std::string format_ratio(double ratio);

/// A rate or any other number to three digits: "0.5", "12.3", "1,930", "45.6 M".
std::string format_number(double value);

/// A share of 1: "12.5 %", and "12 %" where tenths mean nothing.
std::string format_percent(double share);
std::string format_whole_percent(double share);

}  // namespace zerotax
