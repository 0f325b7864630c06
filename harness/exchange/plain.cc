#include "exchange/plain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace zerotax::exchange {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "…";

/// nlohmann's decoder knows what UTF-8 is (overlong forms, surrogates), and replaces all else.
std::string valid_utf8(std::string_view text) {
  const std::string quoted = Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

bool is_no_character(std::string_view three) { return three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF"; }

}  // namespace

std::string plain_text(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string plain;
  for (std::size_t at = 0; at < valid.size(); ++at) {
    const auto byte = static_cast<unsigned char>(valid[at]);
    const bool blank = valid[at] == '\n' || valid[at] == '\t';
    if (valid[at] == '\r') {
      if (at + 1 == valid.size() || valid[at + 1] != '\n') plain += '\n';
    } else if ((!blank && byte < 0x20) || byte == 0x7F) {
      plain += fmt::format("\\x{:02x}", byte);
    } else if (is_no_character(std::string_view(valid).substr(at, 3))) {
      plain += kReplacement;
      at += 2;
    } else {
      plain += valid[at];
    }
  }
  return plain;
}

std::string plain_line(std::string_view text) {
  std::string line = plain_text(text);
  std::replace_if(
      line.begin(), line.end(), [](char each) { return each == '\n' || each == '\t'; }, ' ');
  return line;
}

std::string cut_text(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  text.resize(end);
  return text.append(kEllipsis);
}

}  // namespace zerotax::exchange
