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

}  // namespace zerotax
