#include "observe/folded.h"

#include <fmt/format.h>

#include "base/printable.h"

namespace zerotax {

namespace {

/// A name within a line: printable, and without the character that separates functions.
std::string clean(const std::string& name) {
  std::string text;
  for (const char each : printable(name)) text += each == ';' ? std::string("\\x3b") : std::string(1, each);
  return text;
}

/// The last name, before the weight. A number at the end of this name would be read as one of two weights
/// (flamegraph.pl, difffolded.pl).
std::string clean_last(const std::string& name) {
  std::string text = clean(name);
  const std::size_t blank = text.find_last_of(' ');
  const bool ends_in_number =
      blank != std::string::npos && text.find_first_not_of("0123456789.", blank + 1) == std::string::npos;
  return ends_in_number ? text.replace(blank, 1, "\\x20") : text;
}

}  // namespace

std::string folded_text(const FoldedStacks& stacks) {
  std::string text;
  for (const auto& [names, value] : stacks) {
    for (std::size_t i = 0; i + 1 < names.size(); ++i) text += clean(names[i]) + ";";
    text += fmt::format("{} {}\n", names.empty() ? "" : clean_last(names.back()), value);
  }
  return text;
}

}  // namespace zerotax
