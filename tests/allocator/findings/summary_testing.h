#pragma once

#include <string>
#include <vector>

#include "findings/summary.h"
#include "point/point_document.h"

namespace zerotax::findings {

/// Summary of handmade points.
inline Summary summary_of_json(const std::vector<Json>& points, const Json& run = nullptr) {
  return summary_of(typed_points(points), read_summary_run(run));
}
inline Json judged(const std::vector<Json>& points, const Json& run = nullptr) {
  return summary_json(summary_of_json(points, run));
}
inline std::string summary_text_of(const std::vector<Json>& points) { return summary_text(summary_of_json(points)); }

/// Joins the lines of each paragraph in a wrapped text, so that words can be searched for.
inline std::string one_line_each(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) text.replace(at, 3, " ");
  return text;
}

}  // namespace zerotax::findings
