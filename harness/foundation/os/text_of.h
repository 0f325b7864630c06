#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace zerotax {

/// The text of a file; empty, or cut, if it cannot be read. A file of /proc may fail in the middle, when its process
/// ends: a std::istreambuf_iterator would throw then, of a stream that throws nothing.
inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace zerotax
