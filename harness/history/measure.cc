#include "history/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "check/document.h"
#include "check/plan.h"
#include "check/work.h"
#include "core/audit_point.h"
#include "core/interrupt.h"
#include "core/point_json.h"
#include "core/results.h"
#include "core/scheduler.h"
#include "history/git.h"
#include "thresholds/map.h"
#include "thresholds/session.h"

namespace zerotax::history {
namespace {

using thresholds::doing_of;
using thresholds::signature_of;
using thresholds::ThresholdSearch;

constexpr PointTime kStoppedClock{ClockMode::kStopped, 0};

Plan plan_of(const Allocator& allocator, const Grid& grid) {
  Plan plan;
  if (grid.sizes.empty()) {
    plan = check::baseline_plan(allocator, grid.timeout_s);
  } else {
    plan.timeout_s = grid.timeout_s;
    plan.allocators = {allocator};
    add_points(plan, {{"calloc_loop"}, grid.sizes, {0.0, 1.0}, {"main", "worker"}}, check::kBaselineRepeats);
  }
  return plan;
}

check::WorkWatch watch_of(const std::function<void()>& ends) {
  check::WorkWatch watch;
  watch.ends = ends;
  watch.interrupted = [] { throw Interrupted{}; };
  return watch;
}

std::vector<Piece> pieces_of_search(const Allocator& allocator, const ThresholdSearch& search, std::uint64_t to) {
  const check::BaselineRange range = check::baseline_range();
  const Json map = thresholds::thresholds_json({{allocator, 0, "main", true, search}}, thresholds::kPlainCase,
                                               range.from, to, utc_now(), Json::object());
  std::vector<Piece> pieces;
  for (const Json& piece : map.at("lanes").at(0).at("pieces")) {
    pieces.push_back({piece.at("from_bytes"), piece.at("to_bytes"), piece.at("word")});
  }
  return pieces;
}

std::vector<Piece> pieces_of_points(const std::vector<Point>& points) {
  std::vector<Piece> pieces;
  for (const Point& point : points) {
    if (point.case_name != thresholds::kPlainCase || point.touch != 0 || point.thread != "main") continue;
    const thresholds::Doing doing = doing_of(signature_of(point));
    pieces.push_back({point.size_bytes, point.size_bytes, thresholds::doings()[static_cast<std::size_t>(doing)].key});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& one, const Piece& other) { return one.from_bytes < other.from_bytes; });
  return pieces;
}

}  // namespace

Json Grid::json() const {
  Json json{{"sizes", sizes}, {"thresholds", thresholds}};
  if (thresholds) json["to_bytes"] = last_bytes();
  return json;
}

Grid grid_from_json(const Json& json, double timeout_s) {
  Grid grid;
  grid.sizes = json.at("sizes").get<std::vector<std::uint64_t>>();
  grid.thresholds = json.at("thresholds");
  grid.to_bytes = json.value("to_bytes", std::uint64_t{0});
  grid.timeout_s = timeout_s;
  return grid;
}

std::uint64_t Grid::last_bytes() const { return to_bytes != 0 ? to_bytes : check::baseline_range().to; }

Json to_json(const Measurement& measurement) {
  Json json;
  json["pieces"] = Json::array();
  for (const Piece& piece : measurement.pieces) {
    json["pieces"].push_back({{"from_bytes", piece.from_bytes}, {"to_bytes", piece.to_bytes}, {"word", piece.word}});
  }
  json["baseline"] = to_json(measurement.baseline);
  return json;
}

Measurement measurement_from_json(const Json& json) {
  Measurement measurement{check::baseline_from_json(json.at("baseline")), {}};
  for (const Json& piece : json.at("pieces")) {
    measurement.pieces.push_back({piece.at("from_bytes"), piece.at("to_bytes"), piece.at("word")});
  }
  return measurement;
}

std::string why_unusable(const Allocator& allocator, const Grid& grid) {
  const Plan plan = plan_of(allocator, grid);
  PointSpec spec = plan.points.front();
  spec.time = kStoppedClock;
  const Point first = audit_point(plan, spec, stop_requested);
  if (stop_requested()) throw Interrupted{};
  // A block that does not fit in memory says nothing of the allocator.
  if (has_result(first) || first.status == PointStatus::kSkipped) return "";
  return fmt::format("calloc of {}: {}", format_size(first.size_bytes), first.reason.value_or(word_of(first.status)));
}

Measurement measure(const Allocator& allocator, const Grid& grid, const std::function<void()>& watch) {
  check::Work work;
  work.plan = plan_of(allocator, grid);
  work.time = kStoppedClock;
  work.side_by_side = grid.side_by_side;
  const check::BaselineRange range = check::baseline_range();
  if (grid.thresholds) work.grid = size_grid(range.from, grid.last_bytes(), range.per_octave);
  check::WorkDone done = measure_work(work, watch_of(watch));
  std::vector<Piece> pieces =
      grid.thresholds ? pieces_of_search(allocator, done.search, grid.last_bytes()) : pieces_of_points(done.points);
  return {std::move(done.baseline), std::move(pieces)};
}

check::Baseline measure_part(const Allocator& allocator, double timeout_s, const check::BaselinePart& part,
                             const PointTime& time, const std::function<void()>& watch) {
  check::Work work;
  work.plan.timeout_s = timeout_s;
  work.plan.allocators = {allocator};
  for (const check::PointIdentity& point : part.points) {
    work.plan.points.push_back(
        {0, point.case_name, point.size_bytes, point.touch, point.thread, check::kBaselineRepeats, time});
  }
  work.time = time;
  work.edges = part.edges;
  return measure_work(work, watch_of(watch)).baseline;
}

Point audited(const Allocator& allocator, const PointSpec& spec, double timeout_s) {
  Plan plan;
  plan.timeout_s = timeout_s;
  plan.allocators = {allocator};
  Point point = audit_point(plan, spec, stop_requested);
  if (stop_requested()) throw Interrupted{};
  return point;
}

std::vector<Point> audited_for_rules(const Allocator& allocator, const std::string& case_name, std::uint64_t size_bytes,
                                     double timeout_s) {
  std::vector<Point> points;
  for (const double touch : {0.0, 1.0}) {
    for (const char* thread : {"main", "worker"}) {
      points.push_back(audited(
          allocator, {0, case_name, size_bytes, touch, thread, check::kBaselineRepeats, kStoppedClock}, timeout_s));
    }
  }
  return points;
}

Point measured_in_all_passes(const Allocator& allocator, PointSpec spec, double timeout_s) {
  spec.time = {};
  Plan plan;
  plan.timeout_s = timeout_s;
  plan.allocators = {allocator};
  plan.points = {spec};
  Point measured;
  RunHooks hooks;
  hooks.stop = stop_requested;
  hooks.on_point = [&](const Json& point) { measured = point_from_json(point); };
  if (!run_plan(plan, hooks)) throw Interrupted{};
  return measured;
}

}  // namespace zerotax::history
