#include "base/one_line.h"

#include <fmt/format.h>

namespace zerotax {
namespace {

constexpr std::size_t kLongestWord = 160;

/// Not within a character of UTF-8.
std::string shortened(const std::string& word) {
  const auto inside = [&](std::size_t at) { return (static_cast<unsigned char>(word[at]) & 0xC0U) == 0x80; };
  std::size_t head = kLongestWord / 2;
  std::size_t tail = word.size() - kLongestWord / 2;
  while (head > 0 && inside(head)) --head;
  while (tail < word.size() && inside(tail)) ++tail;
  return word.substr(0, head) + "..." + word.substr(tail);
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  std::string word;
  const auto end_word = [&] {
    line += word.size() <= kLongestWord ? word : shortened(word);
    word.clear();
  };
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (each == ' ') {
      end_word();
      line += ' ';
    } else if (each == '\n') {
      word += "\\n";
    } else if (each == '\t') {
      word += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      word += fmt::format("\\x{:02x}", byte);
    } else {
      word += each;
    }
  }
  end_word();
  return line;
}

}  // namespace zerotax
