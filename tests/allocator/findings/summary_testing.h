#pragma once

#include <string>
#include <vector>

#include "findings/summary.h"
#include "point/point_document.h"

namespace zerotax::findings {

/// Of points that were made by hand.
inline Summary summary_of_json(const std::vector<Json>& points, const Json& run = nullptr) {
  return summary_of(typed_points(points), read_summary_run(run));
}
inline Json judged(const std::vector<Json>& points, const Json& run = nullptr) {
  return summary_json(summary_of_json(points, run));
}
inline std::string summary_text_of(const std::vector<Json>& points) { return summary_text(summary_of_json(points)); }

/// A wrapped text with each of its paragraphs in one line, for who looks for words in it.
inline std::string one_line_each(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) text.replace(at, 3, " ");
  return text;
}

}  // namespace zerotax::findings
