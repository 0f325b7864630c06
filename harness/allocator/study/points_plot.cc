#include "study/points_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/line_plot.h"
#include "judge/signature.h"

namespace zerotax::study {
namespace {

using PlotGroup = std::tuple<std::string, double, std::string>;  ///< case, touch, thread

/// In order of appearance, as the table has them.
std::vector<PlotGroup> groups_of(const std::vector<Point>& points) {
  std::vector<PlotGroup> groups;
  for (const Point& point : points) {
    PlotGroup group{point.case_name, point.touch, point.thread};
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(std::move(group));
  }
  return groups;
}

std::string title_of_group(const PlotGroup& group) {
  const auto& [case_name, touch, thread] = group;
  return fmt::format("{}, touch {:g}{}", case_name, touch, thread == "worker" ? ", worker thread" : "");
}

/// The line of one allocator: `points` by size. A point without a time ends a piece.
PlotLine line_of(const std::string& label, const std::map<std::uint64_t, const Point*>& points) {
  PlotLine line{label, {}};
  std::optional<Signature> before;
  for (const auto& [size, point] : points) {
    const auto ns = point->number(Metric::kCallocNs);
    if (!point->is_ok() || !ns) {
      before.reset();
      continue;
    }
    const Signature now = signature_of(*point);
    // The times do not include what only the first call of a process does.
    const bool joined = before && before->reuse == now.reuse && before->refilling == now.refilling;
    if (!joined) line.pieces.emplace_back();
    // A clock does not resolve less than a nanosecond, and a logarithmic axis has no zero.
    line.pieces.back().push_back({static_cast<double>(size), std::max(1.0, *ns)});
    before = now;
  }
  return line;
}

}  // namespace

std::string points_plot(const std::vector<Point>& points, const PlotStyle& style) {
  std::string text;
  for (const PlotGroup& group : groups_of(points)) {
    std::vector<std::string> labels;
    std::map<std::string, std::map<std::uint64_t, const Point*>> of;
    std::set<std::uint64_t> sizes;
    for (const Point& point : points) {
      if (PlotGroup{point.case_name, point.touch, point.thread} != group) continue;
      const std::string label = point.allocator + settings_words(point.env);
      if (!of.contains(label)) labels.push_back(label);
      of[label][point.size_bytes] = &point;
      if (point.is_ok() && point.number(Metric::kCallocNs)) sizes.insert(point.size_bytes);
    }
    if (sizes.size() < 2) continue;
    std::vector<PlotLine> lines;
    lines.reserve(labels.size());
    for (const std::string& label : labels) lines.push_back(line_of(label, of[label]));
    text += "\n" + line_plot(title_of_group(group), "size asked of calloc", "time of one calloc", lines, style);
  }
  if (text.empty()) return text;
  return text + "A line joins two sizes only where calloc behaves the same at both.\n";
}

}  // namespace zerotax::study
