#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zerotax {

/// A message that stays one line of a terminal whatever words of the user are in it: it is printable
/// (base/printable.h), and of a word of more than 160 bytes the middle is left out.
std::string one_line(std::string_view text);

/// The text, or as much of its beginning as has so many characters of UTF-8 with the … at its end.
std::string first_characters(std::string text, std::size_t most);

/// The same of its end, with the … at the beginning.
std::string last_characters(std::string text, std::size_t most);

}  // namespace zerotax
