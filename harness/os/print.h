#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/printable.h"

namespace zerotax {

// Every text for people is printed here, and nothing but lines of visible characters and the codes of our own colors
// (base/palette.h) reaches a terminal or a log. tests/project/printing_test.py checks that nothing else prints.

/// Writes text that we composed: its line breaks are our own. Names in it were made printable where they entered it, as
/// wrap and Table do. Throws std::system_error if it cannot be written.
void print_lines(std::FILE* to, std::string_view text);

/// The same, for messages that must not end the command. Returns false, with errno, if it cannot be written.
bool try_to_print(std::FILE* to, std::string_view text);

/// A value of print_text: any text is somebody's name until it is composed, and is made printable.
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

/// Writes a text of ours with values in it. Throws std::system_error if it cannot be written, but for standard error: a
/// message that finds no room there ends no measurement.
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
