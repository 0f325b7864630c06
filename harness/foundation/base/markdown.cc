#include "base/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/printable.h"

namespace zerotax {
namespace {

/// With this comment in it, GitHub makes no link of "https://" or "www.", no mention of "@", and no reference of "#".
constexpr const char* kComment = "<!-- -->";

/// Whether the character at `at`, at the beginning of a line, would begin a list, a heading or a rule.
bool begins_block(const std::string& text, std::size_t at) {
  if (text.find_first_not_of(" 0123456789") < at) return false;
  const bool before_blank = at + 1 < text.size() && text[at + 1] == ' ';
  if (at != text.find_first_not_of(' ')) return before_blank && (text[at] == '.' || text[at] == ')');
  return (before_blank && (text[at] == '-' || text[at] == '+')) || text.compare(at, 3, "---") == 0 || text[at] == '=';
}

std::size_t longest_run(std::string_view text, std::size_t at_least) {
  std::size_t longest = at_least;
  std::size_t run = 0;
  for (const char each : text) {
    run = each == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string markdown_escaped(std::string_view raw) {
  const std::string text = printable(raw);
  std::string out;
  const auto in_word = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  const auto follows = [&](std::size_t at, std::string_view what) { return text.compare(at, what.size(), what) == 0; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char each = text[at];
    const bool outer_underscore = each == '_' && !(at > 0 && in_word(at - 1) && in_word(at + 1));
    if (std::string_view("&<>|\\`*[]~$").find(each) != std::string_view::npos || outer_underscore ||
        begins_block(text, at)) {
      // A character reference is never part of Markdown's own structure.
      out += fmt::format("&#{};", static_cast<int>(each));
      continue;
    }
    const bool www = each == '.' && at >= 3 && std::tolower(static_cast<unsigned char>(text[at - 1])) == 'w' &&
                     std::tolower(static_cast<unsigned char>(text[at - 2])) == 'w';
    if (www) out += kComment;
    out += each;
    if (each == '@' || each == '#' || follows(at, "://")) out += kComment;
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  std::string code;
  // In a table, | ends a cell even within code.
  for (const char each : printable(text)) code += each == '|' ? std::string("\\|") : std::string(1, each);
  if (code.empty()) return "";
  const std::string fence(longest_run(code, 0) + 1, '`');
  const char* const blank = fence.size() > 1 ? " " : "";
  return fence + blank + code + blank + fence;
}

std::string markdown_block(std::string_view text, std::string_view language) {
  const std::string lines = printable_lines(text);
  const std::string fence(longest_run(lines, 2) + 1, '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, language, lines, lines.ends_with('\n') ? "" : "\n", fence);
}

}  // namespace zerotax
