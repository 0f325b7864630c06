#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/shell.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "files/results.h"
#include "findings/findings.h"
#include "findings/summary.h"
#include "os/print.h"
#include "point/plan.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "run/probe_identity.h"
#include "run/session.h"
#include "study/answer.h"
#include "study/loop_run.h"
#include "study/points_table.h"

namespace zerotax::study {

namespace {

constexpr const char* kRunExamples =
    "  zerotax run --size 100MiB --size 1000MiB\n"
    "  zerotax run --plot\n"
    "  zerotax run --allocator jemalloc --allocator mimalloc --size 1MiB --touch 0 --touch 1\n"
    "  zerotax run --allocator mine=./libmine.so --size 20MiB --thread worker --json mine.json\n"
    "  zerotax run --size 1MiB --size 64MiB --audit-only --on slurm --out /shared/run\n"
    "  zerotax run --allocator jemalloc --env jemalloc:MALLOC_CONF=retain:false --size 8MiB\n"
    "  zerotax run --size 64KiB --touch 1 --thp always    the memory that huge pages take\n"
    "  zerotax run --loop                            the loop of 2016: 10,000 callocs of 100 MiB, of 1000 MiB\n"
    "  zerotax run --loop --allocator largecache --seconds 600     to its end, not estimated\n"
    "  zerotax run --loop --size 64KiB --size 1GiB --touch 1 --json loop.json\n";

/// Returns the repeats: the number given by the user, or else 8 to 50, as many as fit into two seconds.
Repeats repeats_for(std::optional<std::int64_t> given) {
  if (!given) return {50, 8, 8, 8, 2000};
  const auto ops = static_cast<std::uint32_t>(*given);
  return {ops, ops, ops, ops, 0};
}

/// Reduces the operations of cases that fork, because forking a large process takes long. Eight operations show the
/// cost, and which process copies which page. No known allocator changes its behavior after its fifth call.
void shorten_forks(Plan& plan) {
  constexpr std::uint32_t kForks = 8;
  for (PointSpec& point : plan.points) {
    if (known_cases().at(point.case_name).forks) point.repeats = {kForks, kForks, kForks, kForks, 0};
  }
}

Session make_run_session(const MeasureOptions& options, bool slurm, bool full) {
  if (!options.resume.empty()) return Session::resume(options.resume, Subcommand::command_line);
  Plan plan;
  plan.timeout_s = options.timeout_s;
  plan.audit_only = options.audit_only;
  plan.huge_pages = options.huge_pages();
  const PlanAxes axes = options.axes();
  plan.allocators = resolve_allocators(options.allocators, options.env);
  add_points(plan, axes, repeats_for(options.ops));
  if (!full && !options.ops) shorten_forks(plan);
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

/// Returns the command for the next step, which lists findings of the points. If the points are not stored, the command
/// reports one finding.
std::string next_after(const Session& session, const std::string& file, const std::vector<Point>& points) {
  const std::vector<AllocatorFindings> found = find_findings(points);
  const std::string report = findings::next_step(found, points);
  const std::string stored = session.folder() != nullptr ? session.folder()->path() : file == "-" ? "" : file;
  return report.empty() || stored.empty() ? report : shell_text({"zerotax", "findings", stored});
}

/// Returns the text to print. `next` is the command for the next step.
std::string text_of(const Session& session, const std::string& next) {
  const Palette palette = palette_for(stdout);
  return wants_full_text() ? points_table(session.points(), palette) + findings::load_text(session.load())
                           : answer_text(points_answer(session.points(), session.load(), next, palette));
}

struct RunOptions {
  MeasureOptions measure;
  bool plot = false;
  bool full = false;  ///< whether cases that fork make as many operations as other cases
  bool loop = false;
  double loop_seconds = 1;
};

void add_loop(Arguments& arguments, RunOptions& options) {
  arguments
      .flag("--loop", options.loop,
            "compare a loop of calloc with a loop of malloc: total time, CPU time and context switches (default: "
            "10,000 calls of 100MiB and of 1000MiB)")
      .excludes({"--case", "--thread", "--thorough", "--out", "--resume", "--audit-only", "--on", "--plot"},
                {"{1} has no effect with {0}", "leave out one of them"});
  arguments
      .option("--seconds", options.loop_seconds, "stop a loop of --loop after this time, and estimate the loop's total")
      .seconds()
      .needs({"--loop"})
      .shown_as("SECONDS")
      .with_default();
}

ExitStatus run(const RunOptions& all) {
  const MeasureOptions& options = all.measure;
  if (all.loop) return run_loop(options, all.loop_seconds);
  options.check();
  if (all.plot && options.resume.empty() && options.sizes.size() == 1) {
    throw UsageError("--plot draws time against size, but only one size is given",
                     "add another --size, or leave out --plot");
  }
  check_outside({{"--json", options.json}}, {"--out", options.out});
  check_outside({{"--json", options.json}}, {"--resume", options.resume});
  check_outputs({{"--json", options.json}}, library_inputs(options.allocators));
  const fleet::Place place = options.fleet.place(!options.resume.empty());
  Session session = make_run_session(options, place.slurm, all.full);
  const int signal = session.run(place);
  const std::vector<Point>& points = session.points();
  if (session.folder() != nullptr) findings::write_summary(*session.folder(), points);
  if (!options.json.empty()) write_file(options.json, json_text(session.json()));
  if (options.json != "-") {
    print_lines(stdout, text_of(session, signal == 0 ? next_after(session, options.json, points) : ""));
    if (all.plot) print_lines(stdout, points_plot(points, plot_style()));
  }
  if (signal != 0) {
    const std::string resume = session.folder() == nullptr
                                   ? ""
                                   : fmt::format("; resume with: zerotax run --resume {}{}", session.folder()->path(),
                                                 place.slurm ? " --on slurm" : "");
    say_interrupted(
        fmt::format("{} of {} points were measured{}", session.points().size(), session.plan().points.size(), resume));
  }
  if (signal == 0 && (wants_full_text() || options.json == "-")) say_next(next_after(session, options.json, points));
  const bool healthy = std::all_of(points.begin(), points.end(), [](const Point& point) { return is_healthy(point); });
  return healthy ? ExitStatus::kDone : ExitStatus::kFinding;
}

const Subcommand run_subcommand("run", Wing::kAllocator,
                                "Measure chosen sizes and cases, or loops of calloc and malloc", kRunExamples,
                                [](Arguments& arguments) -> std::function<ExitStatus()> {
                                  const auto options = std::make_shared<RunOptions>();
                                  options->measure.add_allocators(arguments);
                                  options->measure.add_folder(arguments);
                                  options->measure.add_axes(arguments);
                                  options->measure.add_audit_only(arguments);
                                  options->measure.add_huge_pages(arguments);
                                  options->measure.fleet.add(arguments);
                                  add_plot_option(arguments, options->plot, "time against size");
                                  arguments.flag("--thorough", options->full,
                                                 "time 50 operations instead of 8 in a case that forks, which takes "
                                                 "minutes");
                                  add_loop(arguments, *options);
                                  return [options] { return run(*options); };
                                });

}  // namespace
}  // namespace zerotax::study
