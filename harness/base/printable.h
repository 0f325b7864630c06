#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zerotax {

// Names are bytes that others chose: of programs, threads, functions, files, cgroups, commits. Shown as they are, they
// could move a terminal's cursor, reverse the order of what is read, end a line of a format, or command GitHub's
// runner. Every name is made printable where it enters a text, a table, or a document.

/// One line of valid UTF-8 in which every character is visible. Written as escapes are control characters (\n, \x1b,
/// \u009b), characters without a shape, such as those that reverse the direction of writing (\u202e), non-characters
/// (\uffff), and bytes that are not UTF-8 (\xff). So is what GitHub's runner takes for a command: two colons at the
/// beginning, and "##[" (https://github.com/actions/runner, ActionCommand.cs). A backslash stays, so that a name that
/// is made printable twice is the same as one made so once.
std::string printable(std::string_view text);

/// The same for text whose line breaks and tabs are our own: they stay. CR LF and CR become line breaks.
std::string printable_lines(std::string_view text);

/// Valid UTF-8 that keeps every character: only bytes that are not UTF-8 become escapes (\xff). For data that is
/// compared later, as JSON can hold it.
std::string valid_utf8(std::string_view text);

/// JSON text, in whose strings the characters that `printable` escapes become escapes of JSON: the data is the same.
std::string printable_json(std::string_view json);

}  // namespace zerotax
