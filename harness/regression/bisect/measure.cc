#include "bisect/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "check/measure.h"
#include "point/point_document.h"
#include "programs/gather.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "run/point_run.h"
#include "thresholds/map.h"
#include "thresholds/session.h"

namespace zerotax::bisect {
namespace {

using thresholds::doing_of;
using thresholds::Piece;

constexpr PointTime kStoppedClock{ClockMode::kStopped, 0};

Plan plan_without_points(const Allocator& allocator, double timeout_s) {
  Plan plan;
  plan.timeout_s = timeout_s;
  plan.allocators = {allocator};
  return plan;
}

Plan plan_of(const Allocator& allocator, const Grid& grid) {
  if (grid.sizes.empty()) return check::baseline_plan(allocator, grid.timeout_s);
  Plan plan = plan_without_points(allocator, grid.timeout_s);
  add_points(plan, {{"calloc_loop"}, grid.sizes, {0.0, 1.0}, {"main", "worker"}}, check::kBaselineRepeats);
  return plan;
}

/// Shows nothing itself; each finished item is reported to `watch`.
Experiment::Options watched(const std::function<void()>& watch, std::size_t side_by_side = 0) {
  return {side_by_side, false, [&watch](const Item&) { watch(); }};
}

std::vector<Piece> pieces_of_points(const std::vector<Point>& points) {
  std::vector<Piece> pieces;
  for (const Point& point : points) {
    if (point.case_name != kPlainCase || point.touch != 0 || point.thread != "main") continue;
    pieces.push_back({point.size_bytes, point.size_bytes, doing_of(signature_of(point))});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& one, const Piece& other) { return one.from_bytes < other.from_bytes; });
  return pieces;
}

}  // namespace

std::uint64_t Grid::last_bytes() const { return to_bytes != 0 ? to_bytes : check::baseline_range().to; }

std::string why_unusable(const Allocator& allocator, const Grid& grid) {
  const Plan plan = plan_of(allocator, grid);
  PointSpec spec = plan.points.front();
  spec.time = kStoppedClock;
  const Point first = audited(allocator, spec, grid.timeout_s);
  // A block that does not fit in memory says nothing of the allocator.
  if (has_result(first) || first.status == PointStatus::kSkipped) return "";
  return fmt::format("calloc of {}: {}", format_size(first.size_bytes), first.reason.value_or(word_of(first.status)));
}

Measurement measure(const Allocator& allocator, const Grid& grid, const std::function<void()>& watch) {
  check::Work work;
  work.plan = plan_of(allocator, grid);
  work.time = kStoppedClock;
  work.faults = false;
  Experiment experiment("", watched(watch, grid.side_by_side));
  const check::BaselineRange range = check::baseline_range();
  if (grid.thresholds) work.grid = size_grid(range.from, grid.last_bytes(), range.per_octave);
  check::WorkDone done = measure_work(work, experiment);
  std::vector<Piece> pieces = grid.thresholds ? thresholds::pieces_of(done.search, range.from, grid.last_bytes())
                                              : pieces_of_points(done.points);
  return {std::move(done.baseline), std::move(pieces)};
}

programs::Program measured_program(const Grid& grid, const RecipePlaces& places, const std::function<void()>& watch) {
  std::vector<std::string> words;
  for (const std::string& word : grid.command->words) words.push_back(word_at(word, places));
  const std::string& library = grid.command->library;
  // A bare word is a program of PATH; other paths are those of this version. A recording is the same for all.
  if (library.empty() && words.front().find('/') != std::string::npos) words.front() = path_at(words.front(), places);
  programs::Target target = programs::target_for(words, grid.command->name, grid.timeout_s,
                                                 library.empty() ? "" : "version=" + path_at(library, places));
  target.command = grid.command->words;  // the folders of this run are no part of it
  target.folder = places.source;
  return programs::measured(target, {grid.command->rounds}, [&] {
    end_if_stopped();
    watch();
    return programs::run_once(target);
  });
}

check::Baseline measure_part(const Allocator& allocator, double timeout_s, const check::BaselinePart& part,
                             const PointTime& time, const std::function<void()>& watch) {
  check::Work work{part, plan_without_points(allocator, timeout_s), time, {}};
  for (const check::PointIdentity& point : part.points) {
    work.plan.points.push_back(
        {0, point.case_name, point.size_bytes, point.touch, point.thread, check::kBaselineRepeats, time});
  }
  work.faults = work.busy = false;
  Experiment experiment("", watched(watch));
  return measure_work(work, experiment).baseline;
}

Point audited(const Allocator& allocator, const PointSpec& spec, double timeout_s) {
  return audit_point(plan_without_points(allocator, timeout_s), spec);
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
  return measure_point(plan_without_points(allocator, timeout_s), spec);
}

}  // namespace zerotax::bisect
