#include "bisect/versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "baseline/measurer.h"
#include "baseline/program.h"
#include "bisect/document.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/metered_run.h"
#include "run/planning.h"
#include "run/point_run.h"
#include "run/program_launch.h"
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
  if (grid.sizes.empty()) return baseline::baseline_plan(allocator, grid.timeout_s);
  Plan plan = plan_without_points(allocator, grid.timeout_s);
  add_points(plan, {{"calloc_loop"}, grid.sizes, {0.0, 1.0}, {"main", "worker"}}, baseline::kBaselineRepeats);
  return plan;
}

/// Returns the options of an experiment that prints nothing. Each finished item is reported to `watch`.
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

namespace fs = std::filesystem;

Version::State state_of(Build::State state) {
  switch (state) {
    case Build::State::kNoLibrary:
      return Version::State::kNoLibrary;
    case Build::State::kNoProgram:
      return Version::State::kNoProgram;
    case Build::State::kTimeout:
      return Version::State::kTimeout;
    default:
      return Version::State::kNotBuilt;
  }
}

/// Returns a path that the loader can preload. For a path with a blank, returns a link from a folder whose path has no
/// blank.
std::string preloadable(const Workspace& workspace, const Build& build) {
  const fs::path library(build.library);
  if (build.library.find_first_of(" \t\n:") == std::string::npos) return build.library;
  const std::string link = workspace.file(library.parent_path().filename().string());
  std::error_code ignored;
  if (!fs::exists(link, ignored)) fs::create_directory_symlink(library.parent_path(), link);
  return link + "/" + library.filename().string();
}

/// Reads from the cache the reason why the library does not work. Returns false if the cache does not contain a reason.
bool is_unusable_as_before(const Json& stored, const Grid& grid, Version& version) {
  try {
    const auto earlier = stored.get<Unusable>();
    if (grid.timeout_s > earlier.timeout_s) return false;
    version.state = Version::State::kUnusable;
    version.reason = earlier.unusable;
    version.measured_earlier = true;
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::uint64_t Grid::last_bytes() const { return to_bytes != 0 ? to_bytes : baseline::baseline_range().to; }

std::string why_unusable(const Allocator& allocator, const Grid& grid) {
  const Plan plan = plan_of(allocator, grid);
  PointSpec spec = plan.points.front();
  spec.time = kStoppedClock;
  const Point first = audited(allocator, spec, grid.timeout_s);
  // A block that does not fit in memory does not show that the allocator is unusable.
  if (has_result(first) || first.status == PointStatus::kSkipped) return "";
  return fmt::format("calloc of {}: {}", format_size(first.size_bytes), first.reason.value_or(word_of(first.status)));
}

Measurement measure(const Allocator& allocator, const Grid& grid, const std::function<void()>& watch) {
  baseline::Work work;
  work.plan = plan_of(allocator, grid);
  work.time = kStoppedClock;
  work.faults = false;
  Experiment experiment("", watched(watch, grid.side_by_side));
  const baseline::BaselineRange range = baseline::baseline_range();
  if (grid.thresholds) work.grid = size_grid(range.from, grid.last_bytes(), range.per_octave);
  baseline::WorkDone done = measure_work(work, experiment);
  std::vector<Piece> pieces = grid.thresholds ? thresholds::pieces_of(done.search, range.from, grid.last_bytes())
                                              : pieces_of_points(done.points);
  return {std::move(done.baseline), std::move(pieces)};
}

baseline::Program measured_program(const Grid& grid, const RecipePlaces& places, const std::function<void()>& watch) {
  std::vector<std::string> words;
  for (const std::string& word : grid.command->words) words.push_back(word_at(word, places));
  const std::string& library = grid.command->library;
  // A bare word is a program on PATH, and a recording is the same for all versions. All other paths are those of this
  // version.
  if (library.empty() && words.front().find('/') != std::string::npos) words.front() = path_at(words.front(), places);
  record::runs::Target target = record::runs::target_for(words, grid.command->name, grid.timeout_s,
                                                         library.empty() ? "" : "version=" + path_at(library, places));
  target.command = grid.command->words;  // the paths of this run's folders are not part of the command
  target.folder = places.source;
  target.resident = grid.command->resident.has_value();
  return baseline::measured(target, {grid.command->rounds}, [&] {
    end_if_stopped();
    watch();
    return record::runs::run_once(target);
  });
}

baseline::Baseline measure_part(const Allocator& allocator, double timeout_s, const baseline::BaselinePart& part,
                                const PointTime& time, const std::function<void()>& watch) {
  baseline::Work work{part, plan_without_points(allocator, timeout_s), time, {}};
  for (const baseline::PointIdentity& point : part.points) {
    work.plan.points.push_back(
        {0, point.case_name, point.size_bytes, point.touch, point.thread, baseline::kBaselineRepeats, time});
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
          allocator, {0, case_name, size_bytes, touch, thread, baseline::kBaselineRepeats, kStoppedClock}, timeout_s));
    }
  }
  return points;
}

Point measured_in_all_passes(const Allocator& allocator, PointSpec spec, double timeout_s) {
  spec.time = {};
  return measure_point(plan_without_points(allocator, timeout_s), spec);
}

const char* text_of(Version::State state) {
  constexpr const char* kTexts[] = {"not measured",           "measured",      "does not build",   "builds no library",
                                    "does not build in time", "does not work", "builds no program"};
  return kTexts[static_cast<std::size_t>(state)];
}

std::string why_not(const Version& version) {
  const bool has_log = version.build && !version.build->log.empty() && version.state != Version::State::kUnusable;
  return fmt::format("{}: {}{}", text_of(version.state), version.reason,
                     has_log ? fmt::format(" (log: {})", version.build->log) : "");
}

bool Versions::build(Version& version, const Watch& watch) const {
  version.build = builder_.build(workspace_, version.commit, [&] { watch("building"); });
  if (version.build->state == Build::State::kBuilt) return true;
  version.state = state_of(version.build->state);
  version.reason = version.build->reason;
  return false;
}

std::optional<Allocator> Versions::allocator_of(Version& version, const Watch& watch) const {
  return build(version, watch) ? allocator_built(version) : std::nullopt;
}

std::optional<Allocator> Versions::allocator_built(Version& version) const {
  const std::string& package = version.commit.package;
  try {
    const std::string library = package.empty() ? preloadable(workspace_, *version.build) : package;
    return resolve_allocators({builder_.recipe.name + "=" + library}, {}).front();
  } catch (const UsageError& problem) {
    version.reason = problem.what();
  } catch (const MachineError& problem) {
    if (package.empty()) throw;
    version.reason = problem.what();
  }
  version.state = Version::State::kUnusable;
  return std::nullopt;
}

std::string Versions::document_name(const Commit& commit, const Grid& grid) const {
  return fs::path(builder_.cache.build_folder(commit, builder_.recipe)).filename().string() + "/measured-" +
         digits_of(key_of(grid, hash_of_file(grid.command ? project_library("libzerotax-record.so")
                                                          : probe_folder() + "/bench-glibc"))) +
         ".json";
}

bool Versions::is_known(const Commit& commit, const Grid& grid) const {
  const auto build = builder_.earlier(commit);
  if (!build) return false;
  return build->state != Build::State::kBuilt || builder_.cache.read(document_name(commit, grid)).has_value();
}

Version Versions::measured(const Commit& commit, const Grid& grid, const Watch& watch) const {
  Version version;
  version.commit = commit;
  const std::string name = document_name(commit, grid);
  const auto stored = builder_.again ? std::nullopt : builder_.cache.read(name);
  version.build = builder_.earlier(commit);
  if (stored && version.build && version.build->state == Build::State::kBuilt) {
    try {
      version.measurement = stored->get<Measurement>();
      version.state = Version::State::kMeasured;
      version.measured_earlier = true;
      return version;
    } catch (const std::exception&) {
      version.measurement.reset();  // a damaged file counts as missing
    }
    if (is_unusable_as_before(*stored, grid, version)) return version;
  }
  if (!build(version, watch)) return version;
  if (grid.command) {
    measure_program(version, grid, watch);
  } else {
    measure_allocator(version, grid, watch);
  }
  if (!version.measurement) {
    // The exit status of a command may depend on the machine. A crash inside the first calloc depends only on the
    // version.
    const bool lasts = version.state == Version::State::kUnusable && !grid.command;
    if (lasts) builder_.cache.write(name, Unusable{version.reason, grid.timeout_s});
    return version;
  }
  version.state = Version::State::kMeasured;
  // A point that timed out on a busy machine may finish the next time.
  const auto& points = version.measurement->baseline.points;
  const auto is_late = [](const Point& point) { return point.status == PointStatus::kTimeout; };
  if (std::none_of(points.begin(), points.end(), is_late)) builder_.cache.write(name, *version.measurement);
  return version;
}

void Versions::measure_allocator(Version& version, const Grid& grid, const Watch& watch) const {
  const auto allocator = allocator_built(version);
  if (!allocator) return;
  watch("measuring");
  version.reason = why_unusable(*allocator, grid);
  if (version.reason.empty()) {
    version.measurement = measure(*allocator, grid, [&] { watch("measuring"); });
  } else {
    version.state = Version::State::kUnusable;
  }
}

void Versions::measure_program(Version& version, const Grid& grid, const Watch& watch) const {
  builder_.put_in_place(workspace_, version.commit);
  const RecipePlaces places{workspace_.source(), workspace_.build(), builder_.jobs};
  try {
    version.measurement = {{}, {}, measured_program(grid, places, [&] { watch("measuring"); })};
  } catch (const Error& problem) {
    version.reason = problem.what();
  }
  if (!version.measurement) version.state = Version::State::kUnusable;
}

}  // namespace zerotax::bisect
