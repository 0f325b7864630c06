#include "base/wrap.h"

#include <algorithm>

#include "base/printable.h"

namespace zerotax {

std::string wrap(std::string_view sentence, std::string_view first, std::string_view further) {
  constexpr std::size_t kColumns = 78;
  const std::string text = printable(sentence);
  std::string lines;
  std::string line(first);
  bool has_word = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (has_word && line.size() + 1 + end - begin > kColumns) {
      lines += line + "\n";
      line = further;
      has_word = false;
    }
    if (has_word) line += " ";
    line.append(text, begin, end - begin);
    has_word = true;
    begin = end + 1;
  }
  return lines + line + "\n";
}

}  // namespace zerotax
