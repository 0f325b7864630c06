#include "os/print.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "base/printable.h"

namespace zerotax {
namespace {

/// Returns the length of a color code at the beginning of a text (Palette: "\x1b[1;31m", "\x1b[0m"), or 0 if there is
/// none.
std::size_t color_bytes(std::string_view text) {
  for (const std::string_view code : {"\x1b[1;31m", "\x1b[1;32m", "\x1b[1;33m", "\x1b[0m"}) {
    if (text.starts_with(code)) return code.size();
  }
  return 0;
}

std::string shown(std::string_view text) {
  if (text.find('\x1b') == std::string_view::npos) return printable_lines(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t escape = text.find('\x1b');
    const std::size_t colored = escape == std::string_view::npos ? 0 : color_bytes(text.substr(escape));
    // An escape byte that begins no color code is part of the surrounding text.
    const std::size_t end = escape == std::string_view::npos ? text.size() : colored > 0 ? escape : escape + 1;
    out += printable_lines(text.substr(0, end));
    out += text.substr(end, colored);
    text.remove_prefix(end + colored);
  }
  return out;
}

}  // namespace

void print_lines(std::FILE* to, std::string_view text) {
  if (!try_to_print(to, text)) throw std::system_error(errno, std::generic_category(), "cannot write");
}

bool try_to_print(std::FILE* to, std::string_view text) {
  const std::string lines = shown(text);
  return std::fwrite(lines.data(), 1, lines.size(), to) == lines.size();
}

}  // namespace zerotax
