#pragma once

#include <algorithm>
#include <string>

namespace zerotax {

/// The key that a name for people stands for: "page faults" and "page-faults" are page_faults.
inline std::string key_of_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char letter) { return letter == ' ' || letter == '-'; }, '_');
  return name;
}

/// A C++ symbol as it was written in the source, and any other symbol unchanged. The name is made printable
/// (base/printable.h). A name of more than 2,000 characters is cut, because documents hold no text of more than 16 KiB
/// (base/json.h).
std::string demangled(const char* symbol);

/// The last part of a path.
std::string file_name(const std::string& path);

}  // namespace zerotax
