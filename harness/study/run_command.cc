#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/shell.h"
#include "cli/colour.h"
#include "cli/measure_options.h"
#include "cli/next_step.h"
#include "cli/plot_option.h"
#include "cli/subcommand.h"
#include "core/audited_operations.h"
#include "core/interrupt.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "core/point_json.h"
#include "core/session.h"
#include "findings/document.h"
#include "findings/next_step.h"
#include "study/points_plot.h"
#include "study/points_table.h"
#include "study/summary.h"

namespace zerotax::study {

namespace {

constexpr const char* kRunExamples =
    "  zerotax run --size 100MiB --size 1000MiB\n"
    "  zerotax run --plot\n"
    "  zerotax run --allocator jemalloc --allocator mimalloc --size 1MiB --touch 0 --touch 1\n"
    "  zerotax run --allocator mine=./libmine.so --size 20MiB --thread worker --json mine.json\n"
    "  zerotax run --size 1MiB --size 64MiB --audit-only --on slurm --out /shared/run\n"
    "  zerotax run --allocator jemalloc --env jemalloc:MALLOC_CONF=retain:false --size 8MiB\n";

/// Slow operations are repeated less, unless the user says how often: for two seconds, and at least eight times.
Repeats repeats_for(std::optional<std::int64_t> given) {
  if (!given) return {50, 8, 8, 8, 2000};
  const auto ops = static_cast<std::uint32_t>(*given);
  return {ops, ops, ops, ops, 0};
}

Session make_run_session(const MeasureOptions& options, bool slurm) {
  if (!options.resume.empty()) return Session::resume(options.resume, Subcommand::command_line);
  Plan plan;
  plan.timeout_s = options.timeout_s;
  plan.audit_only = options.audit_only;
  const PlanAxes axes = options.axes();
  plan.allocators = resolve_allocators(options.allocators, options.env);
  add_points(plan, axes, repeats_for(options.ops));
  if (options.ops) {
    for (PointSpec& point : plan.points) {
      point.repeats.audit_ops = audited_operations(point.repeats.ops, point.size_bytes);
      point.repeats.zeroing_ops = point.repeats.audit_ops;
    }
  }
  if (slurm) {
    return Session::begin_or_resume(std::move(plan), options.out.empty() ? default_results_path() : options.out,
                                    Subcommand::command_line);
  }
  return {std::move(plan), options.out.empty() ? std::nullopt : std::optional(options.out), Subcommand::command_line};
}

/// What goes on from the points: what is wrong with them, or the report of that where they are not stored.
std::string next_after(const Session& session, const std::string& file, const std::vector<Point>& points) {
  const std::vector<findings::AllocatorFindings> found = findings::find_findings(points, nullptr);
  const std::string report = findings::next_step(found, points);
  const std::string stored = session.folder() != nullptr ? session.folder()->path() : file == "-" ? "" : file;
  return report.empty() || stored.empty() ? report : shell_text({"zerotax", "findings", stored});
}

struct RunOptions {
  MeasureOptions measure;
  bool plot = false;
};

ExitStatus run(const RunOptions& all) {
  const MeasureOptions& options = all.measure;
  options.check();
  if (all.plot && options.resume.empty() && options.sizes.size() == 1) {
    throw UsageError("--plot draws time against size, but one size is given",
                     "add another --size, or leave out --plot");
  }
  check_outside({{"--json", options.json}}, {"--out", options.out});
  check_outside({{"--json", options.json}}, {"--resume", options.resume});
  check_outputs({{"--json", options.json}}, library_inputs(options.allocators));
  const fleet::Place place = options.fleet.place();
  Session session = make_run_session(options, place.slurm);
  const int signal = session.run(place);
  const std::vector<Point> points = typed_points(session.points());
  if (session.folder() != nullptr) write_summary(*session.folder(), points);
  if (!options.json.empty()) write_file(options.json, json_text(session.json()));
  if (options.json != "-") {
    fmt::print("{}{}", points_table(points, palette_for(stdout)), load_text(session.load()));
    if (all.plot) fmt::print("{}", points_plot(points, plot_style()));
  }
  if (signal != 0) {
    fmt::print(stderr, "zerotax: interrupted after {} of {} points{}\n", session.points().size(),
               session.plan().points.size(),
               session.folder() != nullptr ? fmt::format("; resume with: zerotax run --resume {}{}",
                                                         session.folder()->path(), place.slurm ? " --on slurm" : "")
                                           : "");
  }
  if (signal == 0) say_next(next_after(session, options.json, points));
  const bool healthy = std::all_of(points.begin(), points.end(), [](const Point& point) { return is_healthy(point); });
  return healthy ? ExitStatus::kDone : ExitStatus::kFinding;
}

const Subcommand run_subcommand("run", "measure chosen points: allocators x sizes x touched fractions", kRunExamples,
                                [](Arguments& arguments) -> std::function<ExitStatus()> {
                                  const auto options = std::make_shared<RunOptions>();
                                  options->measure.add_allocators(arguments);
                                  options->measure.add_folder(arguments);
                                  options->measure.add_axes(arguments);
                                  options->measure.add_audit_only(arguments);
                                  options->measure.add_fleet(arguments);
                                  add_plot_option(arguments, options->plot, "time against size");
                                  return [options] { return run(*options); };
                                });

}  // namespace
}  // namespace zerotax::study
