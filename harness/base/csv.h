#pragma once

#include <string>

namespace zerotax {

/// Text as a field of comma-separated values (RFC 4180): with a comma, quote or line break it stands in quotes, its
/// quotes doubled.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

}  // namespace zerotax
