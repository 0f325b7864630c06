#pragma once

#include <string>

namespace zerotax::study {

/// A wrapped text with each of its paragraphs in one line, for who looks for words in it.
inline std::string one_line_each(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) text.replace(at, 3, " ");
  return text;
}

}  // namespace zerotax::study
