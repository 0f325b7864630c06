#include "doctor/settings.h"

#include <fmt/format.h>

namespace zerotax::doctor {
namespace {

std::string chosen_word(const std::string& line) {
  const auto open = line.find('[');
  const auto close = line.find(']', open);
  return open == std::string::npos || close == std::string::npos ? line : line.substr(open + 1, close - open - 1);
}

}  // namespace

Finding look_at(const Setting& setting, const Machine& machine) {
  const Reading line = machine.line(setting.path);
  if (!line) return unknown(fmt::format("{}: {}", setting.missing, line.why));
  const std::string word = chosen_word(*line.text);
  for (const Setting::Meaning& meaning : setting.meanings) {
    if (word != meaning.value && std::string_view(meaning.value) != "*") continue;
    return {std::string_view(meaning.state).empty() ? word : meaning.state, meaning.weight, meaning.effect,
            meaning.remedy};
  }
  return {word, Weight::kNote, "zerotax does not know what this value means", ""};
}

}  // namespace zerotax::doctor
