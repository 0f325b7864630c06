#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/json.h"
#include "os/input_file.h"

namespace zerotax {

/// Returns JSON in one line, with a space after each comma and colon.
inline std::string line_of(const Json& json) {
  if (!json.is_structured()) return json.dump();
  std::string line;
  for (const auto& [key, value] : json.items()) {
    if (!line.empty()) line += ", ";
    line += (json.is_object() ? Json(key).dump() + ": " : "") + line_of(value);
  }
  return json.is_object() ? "{" + line + "}" : "[" + line + "]";
}

inline void write_text(const Json& json, std::size_t indent, std::size_t used, std::string& text) {
  constexpr std::size_t kColumns = 118;
  const std::string line = line_of(json);
  if (!json.is_structured() || used + line.size() <= kColumns) {
    text += line;
    return;
  }
  text += json.is_object() ? "{" : "[";
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    const std::string begin = std::string(indent + 2, ' ') + (json.is_object() ? Json(key).dump() + ": " : "");
    text += (first ? "\n" : ",\n") + begin;
    write_text(value, indent + 2, begin.size() + 1, text);
    first = false;
  }
  text += "\n" + std::string(indent, ' ') + (json.is_object() ? "}" : "]");
}

/// Returns JSON in the layout of the schemas. A value that fits into one line is written in one line.
inline std::string schema_text(const Json& json) {
  std::string text;
  write_text(json, 0, 0, text);
  return text + "\n";
}

/// Expects that the committed file has this text. With ZEROTAX_WRITE=1, writes the text to the file first. `tests` is
/// the name of the test program that calls this function.
inline void expect_committed(const std::string& path, const std::string& text, const char* tests) {
  if (std::getenv("ZEROTAX_WRITE") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text_of(path), text) << path << " is out of date: run ZEROTAX_WRITE=1 build/tests/" << tests;
}

}  // namespace zerotax
