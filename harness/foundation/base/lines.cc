#include "base/lines.h"

#include <algorithm>

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
