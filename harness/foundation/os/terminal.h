#pragma once

#include <cstddef>
#include <cstdio>

namespace zerotax {

/// Whether the stream is a terminal.
bool is_terminal(std::FILE* stream);

/// The columns of the stream's terminal; 80 if it is not a terminal, or its width is unknown.
std::size_t terminal_columns(std::FILE* stream);

/// Whether erase_line and erase_lines work: the stream is a terminal, and TERM does not call it dumb.
bool can_erase(std::FILE* stream);

/// Moves the cursor to the beginning of its line, and clears the line (ECMA-48: EL).
void erase_line(std::FILE* stream);

/// Moves the cursor up by `lines`, and clears everything below (ECMA-48: CUU, ED).
void erase_lines(std::FILE* stream, std::ptrdiff_t lines);

/// Whether the locale of the environment writes UTF-8: the first of LC_ALL, LC_CTYPE and LANG that is set and not empty
/// decides (POSIX, "Internationalization Variables").
bool locale_is_utf8();

/// Whether colour suits the stream: it is a terminal, TERM names one that is not "dumb", and NO_COLOR is unset or empty
/// (https://no-color.org).
bool suits_colour(std::FILE* stream);

}  // namespace zerotax
