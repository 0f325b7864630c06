#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zerotax::exchange {

/// The text as UTF-8 that XML 1.0, JSON and Markdown all allow: bytes that are not UTF-8, and U+FFFE and U+FFFF, become
/// U+FFFD; control characters but tabs and line breaks are written as \xNN, as in base/one_line.h. CR LF and CR are
/// line breaks.
std::string plain_text(std::string_view text);

/// The same on one line: line breaks and tabs become spaces.
std::string plain_line(std::string_view text);

/// At most so many bytes of UTF-8 text, cut between two characters, with … at the end of what was cut. `most` is at
/// least 3.
std::string cut_text(std::string text, std::size_t most);

}  // namespace zerotax::exchange
