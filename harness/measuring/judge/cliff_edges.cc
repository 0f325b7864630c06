#include "judge/cliff_edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/units.h"
#include "judge/points.h"
#include "os/page.h"
#include "point/typed_point.h"

namespace zerotax {
namespace {

struct Edge {
  std::uint64_t at_bytes;
  const Point* below;
  const Point* above;
};

/// The points of one lane, by size.
using Lane = std::map<std::uint64_t, const Point*>;

std::map<std::pair<double, std::string>, Lane> lanes_of(const FindingSubject& subject) {
  std::map<std::pair<double, std::string>, Lane> lanes;
  for (const auto* points : {&subject.points, &subject.edges}) {
    for (const Point* point : *points) {
      if (is_plain_loop(*point)) lanes[{point->touch, point->thread}][point->size_bytes] = point;
    }
  }
  return lanes;
}

/// Adds an edge for each exact threshold. Behavior does not change between two thresholds, so the point nearest to a
/// threshold represents that side of the threshold.
void add_threshold_edges(const FindingSubject& subject, double touch, const std::string& thread, const Lane& lane,
                         std::vector<Edge>& edges) {
  std::vector<const MeasuredThreshold*> thresholds;
  for (const MeasuredThreshold* threshold : subject.thresholds) {
    if (threshold->touch == touch && threshold->thread == thread) thresholds.push_back(threshold);
  }
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    const std::uint64_t at = thresholds[i]->at_bytes;
    const std::uint64_t after = i + 1 < thresholds.size() ? thresholds[i + 1]->after_bytes : UINT64_MAX;
    const std::uint64_t segment = before;
    before = at;
    if (!thresholds[i]->exact || thresholds[i]->noisy) continue;
    const auto above = lane.lower_bound(at);
    if (above == lane.begin() || above == lane.end() || above->first > after) continue;
    const auto below = std::prev(above);
    if (below->first >= segment) edges.push_back({at, below->second, above->second});
  }
}

void add_neighbour_edges(const Lane& lane, std::vector<Edge>& edges) {
  for (auto above = lane.begin(); above != lane.end(); ++above) {
    if (above == lane.begin() || std::prev(above)->first + 1 != above->first) continue;
    const bool known =
        std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) { return edge.at_bytes == above->first; });
    if (!known) edges.push_back({above->first, std::prev(above)->second, above->second});
  }
}

/// Describes the metrics that change by a factor of ten or more; empty if no metric does.
std::string change_words(const Edge& edge) {
  const auto jump = [&](std::optional<std::uint64_t> below, std::optional<std::uint64_t> above, std::uint64_t unit) {
    if (!below || !above) return false;
    const std::uint64_t below_whole = edge.below->size_bytes / unit;
    const std::uint64_t above_whole = edge.above->size_bytes / unit;
    return (is_little(*below, below_whole) && is_much(*above, above_whole)) ||
           (is_much(*below, below_whole) && is_little(*above, above_whole));
  };
  const auto change = [](const char* what, std::uint64_t below, std::uint64_t above) {
    return fmt::format("{} {} to {}", what, format_count(below), format_count(above));
  };
  std::string words;
  const auto faults = std::pair{operation_faults(*edge.below), operation_faults(*edge.above)};
  if (jump(faults.first, faults.second, edge.above->page_bytes()))
    words = change("page faults go from", *faults.first, *faults.second);
  const auto zeroed =
      std::pair{borne_out(*edge.below, Metric::kZeroedBytes), borne_out(*edge.above, Metric::kZeroedBytes)};
  if (jump(zeroed.first, zeroed.second, 1)) {
    words += (words.empty() ? "" : ", ") + change("zeroed bytes go from", *zeroed.first, *zeroed.second);
  }
  return words;
}

}  // namespace

std::vector<CliffEdge> cliff_edges(const FindingSubject& subject) {
  std::vector<CliffEdge> cliffs;
  for (const auto& [key, lane] : lanes_of(subject)) {
    std::vector<Edge> edges;
    add_threshold_edges(subject, key.first, key.second, lane, edges);
    add_neighbour_edges(lane, edges);
    for (const Edge& edge : edges) {
      std::string words = change_words(edge);
      if (!words.empty()) cliffs.push_back({edge.at_bytes, edge.below, edge.above, std::move(words)});
    }
  }
  return cliffs;
}

Plan edges_plan(const Plan& plan, const std::vector<Point>& points, const MeasuredThresholds& thresholds) {
  std::map<std::string, const PointSpec*> planned;
  for (const PointSpec& spec : plan.points) planned[point_key(plan, spec)] = &spec;
  Plan edges;
  edges.timeout_s = plan.timeout_s;
  edges.audit_only = plan.audit_only;
  edges.allocators = plan.allocators;
  for (const FindingSubject& subject : subjects_of(points, thresholds, {})) {
    for (const CliffEdge& cliff : cliff_edges(subject)) {
      const auto below = planned.find(key_of(*cliff.below));
      if (cliff.is_exact() || below == planned.end()) continue;
      for (const std::uint64_t size : {cliff.at_bytes - 1, cliff.at_bytes}) {
        PointSpec spec = *below->second;
        spec.size_bytes = size;
        edges.points.push_back(std::move(spec));
      }
    }
  }
  return edges;
}

}  // namespace zerotax
