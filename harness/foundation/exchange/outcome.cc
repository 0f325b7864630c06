#include "exchange/outcome.h"

#include <algorithm>
#include <string_view>

namespace zerotax::exchange {

std::string verdict_of(const OutcomeList& list) { return list.verdict.empty() ? word(list.kind) : list.verdict; }

const std::string& label_of(const Outcome& outcome) { return outcome.label.empty() ? outcome.name : outcome.label; }

const std::string& test_of(const Outcome& outcome) { return outcome.test.empty() ? outcome.name : outcome.test; }

std::string after_verdict(const std::string& sentence, const std::string& verdict) {
  return sentence.starts_with(verdict + ": ") ? sentence.substr(verdict.size() + 2) : sentence;
}

bool fails(const OutcomeList& list) {
  return std::any_of(list.outcomes.begin(), list.outcomes.end(), [](const Outcome& each) { return each.fails; });
}

std::string cut_text(std::string text, std::size_t most) {
  constexpr std::string_view kEllipsis = "…";
  if (text.size() <= most) return text;
  std::size_t end = most - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  text.resize(end);
  return text.append(kEllipsis);
}

}  // namespace zerotax::exchange
