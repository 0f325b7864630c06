#include "base/palette.h"

#include <fmt/format.h>

namespace zerotax {

std::string Palette::operator()(Tone tone, std::string_view word) const {
  const std::size_t first = word.find_first_not_of(' ');
  if (!coloured_ || first == std::string_view::npos) return std::string(word);
  const std::size_t end = word.find_last_not_of(' ') + 1;
  // The eight colours that every terminal has: their owner chose shades that can be read.
  const int colour = tone == Tone::kWorse ? 31 : tone == Tone::kBetter ? 32 : 33;
  return fmt::format("{}\x1b[1;{}m{}\x1b[0m{}", word.substr(0, first), colour, word.substr(first, end - first),
                     word.substr(end));
}

std::string Palette::first_in(std::string text, Tone tone, std::string_view word) const {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? text : text.replace(at, word.size(), (*this)(tone, word));
}

}  // namespace zerotax
