#pragma once

#include <string>
#include <string_view>

namespace zerotax {

/// Wraps words in lines of at most 78 characters. The words are made printable (base/printable.h), and a longer word
/// has a line to itself. Each line ends with a line break. The first line begins with `first`, the others with
/// `further`.
std::string wrap(std::string_view sentence, std::string_view first = "", std::string_view further = "");

}  // namespace zerotax
