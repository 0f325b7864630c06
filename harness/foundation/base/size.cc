#include "base/size.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

#include "base/error.h"

namespace zerotax {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array kUnits{Unit{"", 1},       Unit{"B", 1},     Unit{"KiB", kKiB},     Unit{"MiB", kMiB},
                            Unit{"GiB", kGiB}, Unit{"kB", 1000}, Unit{"MB", 1'000'000}, Unit{"GB", 1'000'000'000}};

[[noreturn]] void reject(std::string_view text, std::string_view why, const std::string& meant = "") {
  throw UsageError(fmt::format("size '{}' {}", text, why),
                   meant + "give bytes or a number with B, KiB, MiB, GiB, kB, MB or GB, as in 100MiB");
}

std::string lower(std::string_view text) {
  std::string word(text);
  for (char& each : word) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return word;
}

/// Returns a suggestion such as "did you mean 100MiB or 100MB? ". In some programs "M" means 1024 * 1024, in others a
/// million, so zerotax assumes neither. A unit in the wrong case, as in "100mib", has only one meaning.
std::string meant_size(std::string_view number, std::string_view unit_name) {
  const std::string given = lower(unit_name);
  for (const Unit& unit : kUnits) {
    if (!unit.name.empty() && lower(unit.name) == given) return fmt::format("did you mean {}{}? ", number, unit.name);
  }
  struct Letter {
    std::string_view letter;
    std::string_view binary;
    std::string_view decimal;
  };
  for (const Letter& each : {Letter{"k", "KiB", "kB"}, {"m", "MiB", "MB"}, {"g", "GiB", "GB"}}) {
    if (given == each.letter) {
      return fmt::format("did you mean {0}{1} or {0}{2}? ", number, each.binary, each.decimal);
    }
    if (given == fmt::format("{}i", each.letter)) return fmt::format("did you mean {}{}? ", number, each.binary);
  }
  return "";
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
  reject(text, fmt::format("has the unknown unit '{}'", unit_name), meant_size(number, unit_name));
}

}  // namespace zerotax
