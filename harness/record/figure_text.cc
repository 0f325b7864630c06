#include "record/figure_text.h"

#include <cmath>

#include "base/size.h"
#include "base/units.h"

namespace zerotax::record {

std::string bytes_text(const Json& figure) {
  if (!figure.is_number()) return "n/a";
  return figure == 0 ? "0" : format_size(figure.get<std::uint64_t>());
}

std::string about_text(const Json& figure) {
  if (!figure.is_number()) return "n/a";
  return format_size(static_cast<std::uint64_t>(std::llround(figure.get<double>())));
}

std::string count_text(const Json& figure) {
  return figure.is_number() ? format_count(figure.get<std::uint64_t>()) : "n/a";
}

std::string ns_text(const Json& figure) { return figure.is_number() ? format_ns(figure.get<double>()) : "n/a"; }

std::string percent_text(const Json& figure) {
  return figure.is_number() ? format_percent(figure.get<double>()) : "n/a";
}

}  // namespace zerotax::record
