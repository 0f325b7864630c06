#pragma once

#include <string>

#include "base/printable.h"

namespace zerotax {

/// Text as a field of comma-separated values (RFC 4180): printable (base/printable.h), and with a comma or quote it
/// stands in quotes, its quotes doubled.
inline std::string csv_field(const std::string& raw) {
  const std::string text = printable(raw);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

}  // namespace zerotax
