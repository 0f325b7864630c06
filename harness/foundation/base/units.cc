#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/size.h"

namespace zerotax {
namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

/// Formats a value with three digits, at most two of them after the point. A value that rounds up to 10 or 100 gets no
/// extra digit.
std::string three_digits(double value) {
  for (const int places : {2, 1}) {
    std::string text = fmt::format("{:.{}f}", value, places);
    if (text.size() <= 4) return text;
  }
  return fmt::format("{:.0f}", value);
}

}  // namespace

std::string format_size(std::uint64_t bytes) {
  for (const auto& [unit, name] : {std::pair{kGiB, "GiB"}, {kMiB, "MiB"}, {kKiB, "KiB"}}) {
    if (bytes < unit) continue;
    if (bytes % unit == 0) return fmt::format("{} {}", bytes / unit, name);
    // Three digits suffice in a table, except where rounding would hide a byte that matters.
    return fmt::format("{} {}", three_digits(static_cast<double>(bytes) / static_cast<double>(unit)), name);
  }
  return fmt::format("{} B", bytes);
}

std::string format_given_size(std::uint64_t bytes) {
  if (bytes == 0 || bytes % kMegabyte != 0 || bytes % kMiB == 0) return format_size(bytes);
  return fmt::format("{} MB", bytes / kMegabyte);
}

std::string size_word(std::uint64_t bytes) {
  for (const auto& [unit, name] : {std::pair{kGiB, "GiB"}, {kMiB, "MiB"}, {kMegabyte, "MB"}, {kKiB, "KiB"}}) {
    if (bytes != 0 && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, name);
  }
  return std::to_string(bytes);
}

std::string format_ns(double ns) {
  for (const auto& [unit, name] : {std::pair{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}}) {
    // Values from 999.5 of the smaller unit on would be shown as 1000 of that unit.
    if (ns >= unit * 0.9995) return fmt::format("{} {}", three_digits(ns / unit), name);
  }
  return fmt::format("{:.0f} ns", ns);
}

std::string format_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string format_counted(std::uint64_t count, const char* singular, const char* plural) {
  if (count == 1) return fmt::format("1 {}", singular);
  return plural != nullptr ? fmt::format("{} {}", format_count(count), plural)
                           : fmt::format("{} {}s", format_count(count), singular);
}

std::string format_number(double value) {
  // Values from 999.5 million on would be shown as 1,000 million.
  if (value >= 999.5e6) return fmt::format("{:.3g} G", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.3g} M", value / 1e6);
  return value < 999.5 ? fmt::format("{:.3g}", value) : format_count(static_cast<std::uint64_t>(std::llround(value)));
}

std::string format_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string format_whole_percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string format_ratio(double ratio) {
  if (std::string text = fmt::format("{:.1f}", ratio); text.size() <= 3) return text;
  // Here the ratio is at least 9.95, so it rounds to 10 or more.
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(ratio)) - 1));
  return format_count(static_cast<std::uint64_t>(std::llround(std::round(ratio / unit) * unit)));
}

}  // namespace zerotax
