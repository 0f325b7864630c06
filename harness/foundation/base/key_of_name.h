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

}  // namespace zerotax
