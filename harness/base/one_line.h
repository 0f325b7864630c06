#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zerotax {

/// A message that stays one line of a terminal whatever words of the user are in it: control characters are written as
/// \n, \t or \xNN, and of a word of more than 160 bytes the middle is left out.
std::string one_line(std::string_view text);

/// The text, or as much of its beginning as has so many characters of UTF-8 with the … at its end.
std::string first_characters(std::string text, std::size_t most);

}  // namespace zerotax
