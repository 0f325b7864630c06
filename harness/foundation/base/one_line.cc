#include "base/one_line.h"

#include "base/printable.h"

namespace zerotax {
namespace {

constexpr std::size_t kLongestWord = 160;

/// Whether a byte is a continuation byte of UTF-8.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

/// Replaces the middle of a word, without splitting a UTF-8 character.
std::string shortened(const std::string& word) {
  const auto inside = [&](std::size_t at) { return continues(word[at]); };
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
  for (const char each : printable(text)) {
    if (each != ' ') {
      word += each;
      continue;
    }
    end_word();
    line += ' ';
  }
  end_word();
  return line;
}

std::string first_characters(std::string text, std::size_t most) {
  std::size_t characters = 0;
  std::size_t last = 0;  // end of the text to keep before …
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (continues(text[at])) continue;
    if (characters + 1 == most) last = at;
    if (characters++ == most) return text.replace(last, std::string::npos, "…");
  }
  return text;
}

std::string last_characters(std::string text, std::size_t most) {
  std::size_t characters = 0;
  std::size_t first = text.size();  // beginning of the text to keep after …
  for (std::size_t at = text.size(); at-- > 0;) {
    if (continues(text[at])) continue;
    if (characters + 1 < most) first = at;
    if (characters++ == most) return text.replace(0, first, "…");
  }
  return text;
}

}  // namespace zerotax
