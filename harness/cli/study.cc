#include <fmt/format.h>

#include <memory>

#include "analyze/summary.h"
#include "analyze/tax.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "drive/figures.h"
#include "drive/session.h"
#include "drive/study_plan.h"
#include "drive/study_receive.h"

namespace zerotax {
namespace {

constexpr const char* kExamples =
    "  zerotax study                      every built-in allocator, about two minutes\n"
    "  zerotax study --full               more sizes, fractions and threads: hours\n"
    "  zerotax study --allocator mine=./libmine.so --allocator glibc\n"
    "  zerotax study --resume results/2026-11-20T05-10-00Z\n";

Session make_session(const MeasureOptions& options, bool full) {
  if (!options.resume.empty()) return Session::resume(options.resume, Subcommand::command_line);
  Plan plan;
  plan.timeout_s = options.timeout_s;
  plan.allocators = resolve_allocators(options.allocators, options.env);
  if (full) {
    add_full_study(plan);
  } else {
    add_quick_study(plan);
  }
  add_receive_points(plan, full);
  return {std::move(plan), options.out.empty() ? default_results_path() : options.out, Subcommand::command_line};
}

ExitStatus study(const MeasureOptions& options, bool full) {
  options.check();
  Session session = make_session(options, full);
  const std::string folder = session.folder()->path();
  const int signal = session.run();
  const std::string summary = write_summary(find_taxes(session.points()));
  session.folder()->write("summary.md", summary);
  if (signal != 0) {
    fmt::print(stderr, "zerotax: interrupted after {} of {} points; go on with: zerotax study --resume {}\n",
               session.points().size(), session.plan().points.size(), folder);
    return ExitStatus::kDone;
  }
  const std::string no_figures = draw_figures(folder);
  fmt::print("{}\nResults: {} (run.json, points.jsonl, points.csv, summary.md{})\n", summary, folder,
             no_figures.empty() ? ", figures" : "");
  if (!no_figures.empty()) fmt::print(stderr, "zerotax: no figures: {}\n", no_figures);
  return ExitStatus::kDone;
}

const Subcommand command("study", "measure every allocator over all sizes, and say who pays", kExamples,
                         [](CLI::App& app) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<MeasureOptions>();
                           const auto full = std::make_shared<bool>(false);
                           options->add_allocators(app);
                           options->add_folder(app);
                           app.add_flag("--full", *full, "more sizes, touched fractions and threads, more repeats");
                           return [options, full] { return study(*options, *full); };
                         });

}  // namespace
}  // namespace zerotax
