#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zerotax {

// Names of programs, threads, functions, files, cgroups and commits are bytes that others chose. Shown unchanged, names
// could move a terminal's cursor, reverse the reading order, end a line of a format, or command GitHub's runner. Every
// name is made printable where it enters a text, a table, or a document.

/// One line of valid UTF-8 in which every character is visible. These become escapes: control characters (\n, \x1b,
/// \u009b), characters without a shape, such as those that reverse the direction of writing (\u202e), non-characters
/// (\uffff), and bytes that are not UTF-8 (\xff). Two colons at the beginning, and "##[", are also escaped, because
/// GitHub's runner takes them for a command (https://github.com/actions/runner, ActionCommand.cs). A backslash stays,
/// so that making a name printable twice changes nothing.
std::string printable(std::string_view text);

/// The same for text whose line breaks and tabs are our own: these stay. CR LF and CR become line breaks.
std::string printable_lines(std::string_view text);

/// Valid UTF-8 that keeps every character: only bytes that are not UTF-8 become escapes (\xff). Used for data that is
/// compared later, because JSON can hold this form.
std::string valid_utf8(std::string_view text);

/// JSON text in whose strings the characters that `printable` escapes become JSON escapes: the data stays the same.
std::string printable_json(std::string_view json);

}  // namespace zerotax
