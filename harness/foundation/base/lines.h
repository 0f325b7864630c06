#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zerotax {

/// Returns the message on one line for a terminal, whatever user-supplied words it contains. The message is made
/// printable (base/printable.h), and the middle of a word of more than 160 bytes is removed.
std::string one_line(std::string_view text);

/// Returns at most `most` UTF-8 characters from the beginning of the text, ending in … if the text was cut.
std::string first_characters(std::string text, std::size_t most);

/// Returns at most `most` UTF-8 characters from the end of the text, beginning with … if the text was cut.
std::string last_characters(std::string text, std::size_t most);

/// Wraps words in lines of at most 78 characters. The words are made printable (base/printable.h), and a longer word
/// has a line to itself. Each line ends with a line break. The first line begins with `first`, the others with
/// `further`.
std::string wrap(std::string_view sentence, std::string_view first = "", std::string_view further = "");

}  // namespace zerotax
