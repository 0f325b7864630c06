#include "findings/figures_text.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "base/units.h"

namespace zerotax::findings {
namespace {

std::string figure_text(std::string_view name, const Json& value) {
  if (is_not_available(value)) return "n/a: " + text_field(value, "na", "");
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  const auto number = value.get<double>();
  if (name.ends_with("_ns")) return format_ns(number);
  const bool bytes = name.ends_with("bytes");
  if (number != std::floor(number)) return format_number(number) + (bytes ? " bytes" : "");
  const auto count = static_cast<std::uint64_t>(number);
  return bytes ? format_counted(count, "byte") : format_count(count);
}

}  // namespace

std::string figures_text(const Json& figures) {
  std::string text;
  for (const auto& [name, value] : figures.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, figure_text(name, value));
  }
  return text;
}

}  // namespace zerotax::findings
