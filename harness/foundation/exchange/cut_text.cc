#include "exchange/cut_text.h"

#include <string_view>

namespace zerotax::exchange {

std::string cut_text(std::string text, std::size_t most) {
  constexpr std::string_view kEllipsis = "…";
  if (text.size() <= most) return text;
  std::size_t end = most - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  text.resize(end);
  return text.append(kEllipsis);
}

}  // namespace zerotax::exchange
