#pragma once

#include <algorithm>
#include <string>

namespace zerotax {

/// Returns the key for a displayed name: page_faults for "page faults" and "page-faults".
inline std::string key_of_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char letter) { return letter == ' ' || letter == '-'; }, '_');
  return name;
}

/// Returns a C++ symbol as written in the source, and any other symbol unchanged. The name is made printable
/// (base/printable.h). Names of more than 2,000 characters are cut, because documents contain no text of more than 16
/// KiB (base/json.h).
std::string demangled(const char* symbol);

/// Returns the last component of a path.
std::string file_name(const std::string& path);

}  // namespace zerotax
