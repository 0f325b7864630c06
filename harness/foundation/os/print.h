#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/printable.h"

namespace zerotax {

// All text for people is printed here. Only lines of visible characters and our own color codes (base/palette.h) reach
// a terminal or a log. tests/project/printing_test.py checks that nothing else prints.

/// Writes text that we composed: its line breaks are our own. Names were made printable where they entered the text, as
/// wrap and Table do. Throws std::system_error if the text cannot be written.
void print_lines(std::FILE* to, std::string_view text);

/// The same, for messages that must not end the command. Returns false, with errno, if the text cannot be written.
bool try_to_print(std::FILE* to, std::string_view text);

/// The type of a value of print_text. Any text counts as somebody's name, and is made printable.
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

/// Writes our own text with values in it. Throws std::system_error if the text cannot be written, except on standard
/// error, because a message that cannot be written must not end a measurement.
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
