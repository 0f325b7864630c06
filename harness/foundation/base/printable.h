#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zerotax {

// The names of programs, threads, functions, files, cgroups and commits are bytes that others chose. If printed
// unchanged, a name could move a terminal's cursor, reverse the reading order, end a line of a file format, or command
// GitHub's runner. Every name is therefore made printable when it is put into a text, a table, or a document.

/// Returns one line of valid UTF-8 in which every character is visible. Escapes replace control characters (\n, \x1b,
/// \u009b), non-characters (\uffff), and bytes that are not UTF-8 (\xff). Escapes also replace characters without a
/// shape, such as those that reverse the direction of writing (\u202e). Two colons at the beginning, and "##[", are
/// escaped too, because GitHub's runner treats them as a command (https://github.com/actions/runner, ActionCommand.cs).
/// Backslashes are not escaped, so that making a name printable twice changes nothing.
std::string printable(std::string_view text);

/// Makes text printable like `printable`, but keeps line breaks and tabs. Only zerotax's own text may have line breaks
/// and tabs. CR LF and CR become line breaks.
std::string printable_lines(std::string_view text);

/// Returns valid UTF-8: invalid bytes, and nothing else, become escapes (\xff). JSON can store the result, so this form
/// suits data that is compared later.
std::string valid_utf8(std::string_view text);

/// Returns the JSON text with JSON escapes for all characters in strings that `printable` escapes. The data stays the
/// same.
std::string printable_json(std::string_view json);

}  // namespace zerotax
