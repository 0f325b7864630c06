#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zerotax {

/// A message that stays on one line of a terminal, whatever words of the user it contains. The message is made
/// printable (base/printable.h), and the middle of a word of more than 160 bytes is left out.
std::string one_line(std::string_view text);

/// The text, or as much of its beginning as has so many characters of UTF-8 with the … at its end.
std::string first_characters(std::string text, std::size_t most);

/// The last characters of a text, with … at the beginning if the text was cut.
std::string last_characters(std::string text, std::size_t most);

}  // namespace zerotax
