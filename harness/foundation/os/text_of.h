#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace zerotax {

/// Returns the text of a file. The text is empty or truncated if the file cannot be read. Reading a /proc file may fail
/// in the middle, when the process that the file describes ends. A std::istreambuf_iterator would then throw, even on a
/// stream that throws nothing.
inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace zerotax
