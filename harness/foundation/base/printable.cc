#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace zerotax {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

/// Characters without a visible shape. These are C1 controls, separators of lines and paragraphs, every blank but
/// U+0020, and non-characters other than the two at the end of each plane. The table also has the characters that
/// Unicode 15 lists as Default_Ignorable_Code_Point (DerivedCoreProperties.txt: directions, joiners, tags) or as
/// category Cf. Blanks are included because .NET, which reads GitHub's commands, skips all of them.
constexpr Range kHidden[] = {
    {0x7F, 0xA0},       {0xAD, 0xAD},       {0x34F, 0x34F},     {0x600, 0x605},     {0x61C, 0x61C},
    {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},
    {0x1680, 0x1680},   {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x2000, 0x200F},   {0x2028, 0x202F},
    {0x205F, 0x206F},   {0x3000, 0x3000},   {0x3164, 0x3164},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

bool is_hidden(char32_t character) {
  if (character < 0x20 || (character & 0xFFFE) == 0xFFFE) return true;
  const auto* const after = std::upper_bound(std::begin(kHidden), std::end(kHidden), character,
                                             [](char32_t one, const Range& range) { return one < range.first; });
  return after != std::begin(kHidden) && character <= std::prev(after)->last;
}

/// A character, or a byte that is not part of a valid character.
struct Piece {
  std::size_t bytes = 1;
  std::optional<char32_t> character;
};

/// Returns the first piece of a non-empty text. Overlong forms, surrogates and numbers beyond Unicode are not
/// characters (RFC 3629).
Piece first_piece(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {1, first};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  char32_t character = first & (0xFFU >> (bytes + 1));
  for (std::size_t at = 1; at < bytes; ++at) {
    const auto next = static_cast<unsigned char>(text[at]);
    if ((next & 0xC0U) != 0x80) return {};
    character = character << 6 | (next & 0x3FU);
  }
  constexpr char32_t kFewest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  if (character < kFewest[bytes] || surrogate || character > 0x10FFFF) return {};
  return {bytes, character};
}

std::string escape_of(char32_t character) {
  if (character == '\n') return "\\n";
  if (character == '\r') return "\\r";
  if (character == '\t') return "\\t";
  const auto number = static_cast<std::uint32_t>(character);
  if (number < 0x80) return fmt::format("\\x{:02x}", number);
  return number <= 0xFFFF ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

/// Returns the JSON escape of a character. A character beyond 16 bits becomes two surrogates.
std::string json_escape_of(char32_t character) {
  auto number = static_cast<std::uint32_t>(character);
  if (number <= 0xFFFF) return fmt::format("\\u{:04x}", number);
  number -= 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (number >> 10), 0xDC00 + (number & 0x3FF));
}

/// Calls on_character(character, its bytes) or on_byte(byte) for each piece, in the order of the text.
template <typename OnCharacter, typename OnByte>
void for_each_piece(std::string_view text, const OnCharacter& on_character, const OnByte& on_byte) {
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    if (piece.character) {
      on_character(*piece.character, text.substr(0, piece.bytes));
    } else {
      on_byte(static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(piece.bytes);
  }
}

void add_byte(std::string& text, unsigned char byte) { fmt::format_to(std::back_inserter(text), "\\x{:02x}", byte); }

/// Breaks up two texts that GitHub's runner would execute as commands: "::" as the first characters of a line after
/// blanks, and "##[" anywhere. The second colon, or the bracket, has just been added to `line`.
void disarm(std::string& text, std::size_t line_begin) {
  if (text.ends_with("##[")) {
    text.replace(text.size() - 2, 1, "\\x23");
  } else if (text.ends_with("::") && text.find_first_not_of(" \t", line_begin) == text.size() - 2) {
    text.replace(text.size() - 2, 1, "\\x3a");
  }
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char each) { return each >= 0x20 && each < 0x7F; }) &&
         text.find("##[") == std::string_view::npos && text.find("::") == std::string_view::npos;
}

std::string shown(std::string_view text, bool lines) {
  if (is_plain(text)) return std::string(text);
  std::string out;
  std::size_t line_begin = 0;
  bool after_return = false;
  const auto on_character = [&](char32_t character, std::string_view bytes) {
    const bool breaks = lines && (character == '\n' || character == '\r');
    if (breaks) {
      if (character == '\r' || !after_return) out += '\n';
      line_begin = out.size();
    } else if (is_hidden(character) && !(lines && character == '\t')) {
      out += escape_of(character);
    } else {
      out += bytes;
      disarm(out, line_begin);
    }
    after_return = character == '\r';
  };
  for_each_piece(text, on_character, [&](unsigned char byte) {
    add_byte(out, byte);
    after_return = false;
  });
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return shown(text, false); }

std::string printable_lines(std::string_view text) { return shown(text, true); }

std::string valid_utf8(std::string_view text) {
  std::string out;
  for_each_piece(
      text, [&](char32_t /*character*/, std::string_view bytes) { out += bytes; },
      [&](unsigned char byte) { add_byte(out, byte); });
  return out;
}

std::string printable_json(std::string_view json) {
  const bool ascii = std::all_of(json.begin(), json.end(), [](unsigned char each) { return each < 0x7F; });
  if (ascii && json.find("##[") == std::string_view::npos) return std::string(json);
  std::string out;
  const auto on_character = [&](char32_t character, std::string_view bytes) {
    if (is_hidden(character) && character >= 0x20) {
      out += json_escape_of(character);
      return;
    }
    out += bytes;
    // Only JSON strings can contain "##[".
    if (out.ends_with("##[")) out.replace(out.size() - 2, 1, "\\u0023");
  };
  for_each_piece(json, on_character, [](unsigned char /*byte*/) {});
  return out;
}

}  // namespace zerotax
