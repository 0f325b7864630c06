#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/printable.h"

namespace zerotax {

// Prints all text for people. Only lines of visible characters and our own color codes (Palette in base/table.h) reach
// a terminal or a log. tests/project/printing_test.py checks that no other code prints.

/// Writes text that zerotax composed, with its line breaks. Make names printable first, as wrap and Table do. Throws
/// std::system_error if the text cannot be written.
void print_lines(std::FILE* to, std::string_view text);

/// Writes a message that must not end the command. Returns false and sets errno if the message cannot be written.
bool try_to_print(std::FILE* to, std::string_view text);

/// The type to which print_text converts a value. Any text may be a name that others chose, so it is made printable.
template <typename T>
using PrintedValue = std::conditional_t<std::is_convertible_v<const T&, std::string_view>, std::string, const T&>;

template <typename T>
PrintedValue<T> printed(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return printable(value);
  } else {
    return value;
  }
}

/// Writes zerotax's own text with inserted values. Throws std::system_error if the text cannot be written. Never throws
/// for standard error, because a failed message must not end a measurement.
template <typename... Values>
void print_text(std::FILE* to, fmt::format_string<PrintedValue<Values>...> text, const Values&... values) {
  const std::string lines = fmt::format(text, printed(values)...);
  to == stderr ? static_cast<void>(try_to_print(to, lines)) : print_lines(to, lines);
}

template <typename... Values>
void print_text(fmt::format_string<PrintedValue<Values>...> text, const Values&... values) {
  print_lines(stdout, fmt::format(text, printed(values)...));
}

}  // namespace zerotax
