#include "os/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

namespace zerotax {
namespace {

/// "" for a variable that is not set: most treat the two alike.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

std::size_t terminal_columns(std::FILE* stream) {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

bool can_erase(std::FILE* stream) { return is_terminal(stream) && variable("TERM") != "dumb"; }

void erase_line(std::FILE* stream) { std::fputs("\r\x1b[K", stream); }

void erase_lines(std::FILE* stream, std::ptrdiff_t lines) {
  std::fputs(("\x1b[" + std::to_string(lines) + "A\x1b[J").c_str(), stream);
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale = variable(name);
    if (locale.empty()) continue;
    // "de_DE.UTF-8@euro", "C.utf8".
    locale.erase(std::remove(locale.begin(), locale.end(), '-'), locale.end());
    for (char& each : locale) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    const std::size_t dot = locale.find('.');
    return dot != std::string::npos && locale.substr(dot + 1, locale.find('@') - dot - 1) == "utf8";
  }
  return false;
}

bool suits_colour(std::FILE* stream) {
  const std::string kind = variable("TERM");
  return is_terminal(stream) && !kind.empty() && kind != "dumb" && variable("NO_COLOR").empty();
}

}  // namespace zerotax
