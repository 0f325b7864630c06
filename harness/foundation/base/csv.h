#pragma once

#include <string>

#include "base/printable.h"

namespace zerotax {

/// Text as a field of comma-separated values (RFC 4180). The text is made printable (base/printable.h). A field with a
/// comma or a quote is put in quotes, and its quotes are doubled.
inline std::string csv_field(const std::string& raw) {
  const std::string text = printable(raw);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

}  // namespace zerotax
