#include "base/size.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace zerotax {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array kUnits{Unit{"", 1},       Unit{"B", 1},     Unit{"KiB", kKiB},     Unit{"MiB", kMiB},
                            Unit{"GiB", kGiB}, Unit{"kB", 1000}, Unit{"MB", 1'000'000}, Unit{"GB", 1'000'000'000}};

[[noreturn]] void reject(std::string_view text, std::string_view why) {
  throw UsageError(fmt::format("size '{}' {}", text, why),
                   "give bytes or a number with B, KiB, MiB, GiB, kB, MB or GB, as in 100MiB");
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, digits);
  std::string_view unit_name = digits == std::string_view::npos ? "" : text.substr(digits);
  while (unit_name.starts_with(' ')) unit_name.remove_prefix(1);

  double value = 0;
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || failure != std::errc{} || end != number.data() + number.size()) {
    reject(text, "is not a number with a unit");
  }
  for (const Unit& unit : kUnits) {
    if (unit.name != unit_name) continue;
    const double bytes = value * static_cast<double>(unit.bytes);
    if (bytes == 0) reject(text, "is zero: there is nothing to measure");
    if (bytes >= static_cast<double>(kAddressSpaceBytes)) {
      reject(text, "is beyond the address space (128 TiB)");
    }
    if (bytes != std::floor(bytes)) reject(text, "is not a whole number of bytes");
    return static_cast<std::uint64_t>(bytes);
  }
  reject(text, fmt::format("has the unknown unit '{}'", unit_name));
}

}  // namespace zerotax
