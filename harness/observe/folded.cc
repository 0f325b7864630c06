#include "observe/folded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zerotax {

std::string folded_text(const FoldedStacks& stacks) {
  std::string text;
  for (const auto& [names, value] : stacks) text += fmt::format("{} {}\n", fmt::join(names, ";"), value);
  return text;
}

}  // namespace zerotax
