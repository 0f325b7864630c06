#include "base/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/printable.h"

namespace zerotax {
namespace {

/// Quotes a word as $'...', in which bash, ksh and POSIX 2024 shells can write every byte in visible characters.
std::string ansi_quoted(const std::string& word) {
  std::string text = "$'";
  for (const char each : word) {
    const auto byte = static_cast<unsigned char>(each);
    if (each == '\n' || each == '\t') {
      text += each == '\n' ? "\\n" : "\\t";
    } else if (byte < 0x20 || byte >= 0x7F) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      if (each == '\'' || each == '\\') text += '\\';
      text += each;
    }
  }
  return text + "'";
}

}  // namespace

std::string shell_word(const std::string& word) {
  const auto plain = [](char each) {
    return std::isalnum(static_cast<unsigned char>(each)) != 0 ||
           std::string_view("_-./:=,+@%").find(each) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  if (printable(word) != word) return ansi_quoted(word);
  std::string text = "'";
  for (const char each : word) text += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return text + "'";
}

std::string shell_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

}  // namespace zerotax
