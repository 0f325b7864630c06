#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/printable.h"
#include "base/shell.h"
#include "base/size.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/document.h"
#include "files/output_file.h"
#include "files/results.h"
#include "files/stored_run.h"
#include "findings/findings.h"
#include "findings/summary.h"
#include "judge/cliff_edges.h"
#include "os/input_file.h"
#include "os/print.h"
#include "point/plan.h"
#include "replay/calls_file.h"
#include "replay/result.h"
#include "replay/run.h"
#include "run/allocators.h"
#include "run/figures.h"
#include "run/fleet/hosts.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "run/program_launch.h"
#include "run/session.h"
#include "study/plan.h"
#include "study/points_table.h"
#include "thresholds/session.h"

namespace zerotax::study {
namespace {

/// File of a results folder with the results of real programs (replay/result.h).
inline constexpr const char* kWorkloadsFile = "workloads.json";

/// Results of replays. `text` is a table and a sentence, empty if nothing was replayed. `signal` is the number of the
/// signal that ended the replays early, or 0.
struct ReplayedWorkloads {
  std::string text;
  int signal = 0;
};

replay::Workloads read_stored(const std::string& path) {
  return replay::read_workloads(
      read_document(path, "workloads", "delete the file, and the recordings are replayed again"));
}

/// Returns the plan's allocators as libraries to preload.
std::vector<Allocator> preloaded(const Plan& plan) {
  std::vector<Allocator> allocators;
  for (const Allocator& each : plan.allocators) {
    try {
      Allocator found = *resolve_program_allocator(allocator_word(each), {});
      found.env = each.env;
      found.version = each.version;
      allocators.push_back(std::move(found));
    } catch (const std::exception& failure) {
      print_text(stderr, "zerotax: the allocator {} is left out of real programs: {}\n", each.name, failure.what());
    }
  }
  return allocators;
}

/// Throws UsageError if the folder has a file of replays that cannot be continued.
void check_workloads(const std::string& folder) {
  const std::string path = folder + "/" + kWorkloadsFile;
  if (is_there(path)) read_stored(path);
}

/// Replays the recordings of replay/workloads under the plan's allocators, and adds each result to the folder's file.
/// Results that the file already has are not measured again. Prints which allocators are left out because they cannot
/// be preloaded.
ReplayedWorkloads replay_workloads(const Plan& plan, const std::string& folder) try {
  const std::string recordings = replay::own_recordings();
  if (recordings.empty()) return {};
  replay::Plan how;
  how.allocators = preloaded(plan);
  how.times = !plan.audit_only;
  how.timeout_s = plan.timeout_s;
  if (how.allocators.empty()) return {};
  const std::string path = folder + "/" + kWorkloadsFile;
  replay::Workloads all =
      is_there(path) ? read_stored(path) : replay::Workloads{replay::new_head("zerotax.workloads/1")};
  if (!all.complete || all.workloads.empty()) {
    all.complete = replay::replay_calls(replay::recordings_in({recordings}), how, all.workloads, [&] {
      all.complete = false;
      write_file(path, json_text(replay::workloads_json(all)));
    });
    add_sentence(all);
    write_file(path, json_text(replay::workloads_json(all)));
  }
  if (!all.complete) return {"", interrupted()};
  return {replay::zeros_text(all), 0};
} catch (const replay::OtherPages& other) {
  print_text(stderr, "zerotax: no programs are replayed: {}\n", other.what());
  return {};
}

}  // namespace

using findings::findings_count;
using findings::next_step;
using findings::Summary;
using findings::summary_text;
using findings::write_summary;
using thresholds::kQuickFrom;
using thresholds::kQuickPerOctave;
using thresholds::kQuickTo;
using thresholds::kRefillFrom;
using thresholds::kRefillPerOctave;
using thresholds::kRefillTo;
using thresholds::ThresholdAxes;
using thresholds::ThresholdSession;
namespace {

/// Files in a results folder.
constexpr const char* kThresholds = "/thresholds";
constexpr const char* kRefillThresholds = "/refill_thresholds";
constexpr const char* kJson = ".json";

constexpr const char* kExamples =
    "  zerotax study                      every built-in allocator, a few minutes\n"
    "  zerotax study --thorough           more sizes, fractions and threads: hours\n"
    "  zerotax study --thorough --on slurm,--partition=bench --out /shared/full\n"
    "  zerotax study --allocator mine=./libmine.so --allocator glibc\n"
    "  zerotax study --resume results/2026-11-20T05-10-00Z\n";

/// Checks a file of thresholds before anything is measured. The search for thresholds comes last, and continues this
/// file.
void check_thresholds(const std::string& file) {
  if (is_there(file)) read_document(file, "thresholds", "delete the file, and the study searches the thresholds again");
}

Session make_session(const MeasureOptions& options, bool full, bool slurm) {
  if (!options.resume.empty()) {
    for (const char* name : {kThresholds, kRefillThresholds}) check_thresholds(options.resume + name + kJson);
    const std::string edges = options.resume + "/" + kEdgesFile;
    if (is_there(edges)) read_document(edges, "run", "delete the file, and the study measures its points again");
    check_workloads(options.resume);
    return Session::resume(options.resume, Subcommand::command_line);
  }
  Plan plan;
  plan.timeout_s = options.timeout_s;
  plan.audit_only = options.audit_only;
  plan.huge_pages = options.huge_pages();
  // If the system's setting of huge pages is "always", times are those of huge pages, but counts are those of small
  // pages. The additional memory held by huge pages is measured and reported. For hosts of a fleet, the setting is not
  // known yet.
  if (plan.huge_pages == HugePages::kOfSystem && !slurm && system_huge_pages() == Measured<std::string>("always")) {
    plan.huge_pages = HugePages::kAlways;
  }
  plan.allocators = resolve_allocators(options.allocators, options.env);
  if (full) {
    add_full_study(plan);
  } else {
    add_quick_study(plan);
  }
  add_receive_points(plan, full);
  const std::string folder = options.out.empty() ? default_results_path() : options.out;
  if (slurm) return Session::begin_or_resume(std::move(plan), folder, Subcommand::command_line);
  return {std::move(plan), folder, Subcommand::command_line};
}

/// Returns the axes of the search. The quick study searches with one thread.
ThresholdAxes threshold_axes(const Plan& plan) {
  if (plan.study == "full") return {16 * kKiB, 2 * kGiB, 2, {0, 0.01, 1}, {"main", "worker"}};
  return {kQuickFrom, kQuickTo, kQuickPerOctave, {0, 1}, {"main"}};
}

/// Returns the axes for sizes at which the pages of refill_loop start or stop going back to the kernel.
ThresholdAxes refill_axes(const Plan& plan) {
  if (plan.study == "full") return {kRefillFrom, 16 * kMiB, 2, {1}, {"main", "worker"}, kRefillCase};
  return {kRefillFrom, kRefillTo, kRefillPerOctave, {1}, {"main"}, kRefillCase};
}

/// Searches lanes that the folder's file lacks, and stores each lane there. Returns the number of the signal that ended
/// the search early, or 0.
int search_thresholds(const Plan& plan, const ThresholdAxes& axes, const std::string& folder, const char* name,
                      const fleet::Place& place) {
  const std::string file = folder + name + kJson;
  ThresholdSession session(plan, axes);
  std::error_code failure;
  if (std::filesystem::exists(file, failure)) session.resume(read_json_file(file), file);
  return session.run([&] { write_file(file, json_text(session.json())); }, place, {folder, name + 1});
}

/// Measures the effect of one byte at thresholds that are cliffs, and stores the complete result in the folder. Returns
/// the number of the signal that ended the measurement early, or 0.
int measure_edges(const Plan& plan, const std::vector<Point>& points, const std::string& folder) {
  const std::string file = folder + "/" + kEdgesFile;
  if (is_there(file)) return 0;
  Session session(edges_plan(plan, points, read_json_file(folder + kThresholds + kJson)), std::nullopt,
                  Subcommand::command_line);
  const int signal = session.run();
  if (signal == 0) write_file(file, json_text(session.json()));
  return signal;
}

/// Prints the headline's points once all are measured, if any were missing before.
class Headline {
 public:
  explicit Headline(const Session& session) {
    for (const PointSpec& point : session.plan().points) missing_ += is_headline(point) ? 1 : 0;
    for (const Point& point : session.points()) add(point);
  }

  /// Adds a point. Returns whether the point was the last missing one.
  bool add(const Point& point) {
    if (!is_headline(point)) return false;
    points_.push_back(point);
    return --missing_ == 0;
  }

  void show() const {
    print_lines(stdout, points_table(points_, palette_for(stdout)) + "\n");
    std::fflush(stdout);
  }

 private:
  std::vector<Point> points_;
  std::size_t missing_ = 0;
};

/// Throws UsageError if the folder does not contain a study. A run of chosen points has no thresholds and no summary.
void check_study(const Plan& plan, const std::string& folder) {
  if (!plan.study.empty()) return;
  throw UsageError(fmt::format("{} contains a run of chosen points, not a study", folder),
                   fmt::format("resume it with: zerotax run --resume {}", folder));
}

/// Files that a study wrote.
struct Written {
  std::string folder;
  bool slurm;  ///< whether the study ran on Slurm, which replays no workloads
  bool figures;
  bool page;
};

std::string files_text(const Written& written) {
  const std::string folder = printable(written.folder);
  std::string text = fmt::format(
      "Results: {} (run.json, points.jsonl, points.csv, thresholds.json, refill_thresholds.json, edges.json, "
      "findings.json, {}summary.json, summary.md{})\n",
      folder, written.slurm ? "" : "workloads.json, ", written.figures ? ", figures" : "");
  if (written.page) text += fmt::format("Page: {}/report.html (one file, for any browser)\n", folder);
  return text;
}

/// Returns the answer of a study. `next` comes from next_step() of findings.
Answer answer(const Summary& summary, const std::vector<AllocatorFindings>& found, const Written& written,
              const std::string& next) {
  Answer answer = findings::summary_answer(summary);
  const std::string number =
      findings::number_of(found) == 0 ? "or see all findings:" : fmt::format("or see {}:", findings_count(found));
  if (!next.empty())
    answer.steps.push_back({next, answer.steps.empty() ? "write a bug report:" : "or write a bug report:"});
  answer.steps.push_back({shell_text({"zerotax", "findings", written.folder}), number});
  if (written.page) answer.steps.push_back({"", fmt::format("or open the page {}/report.html", written.folder)});
  answer.more = "Sentences on all allocators, real programs, and files";
  return answer;
}

ExitStatus study(const MeasureOptions& options, bool full) {
  const fleet::Place place = options.fleet.place(!options.resume.empty());
  Session session = make_session(options, full, place.slurm);
  const std::string folder = session.folder()->path();
  check_study(session.plan(), folder);
  Headline headline(session);
  int signal = session.run(place, [&](const Point& point) {
    if (headline.add(point) && wants_full_text()) headline.show();
  });
  std::vector<Point> points = session.points();
  const Summary summary = write_summary(*session.folder(), points);
  session.folder()->write("summary.md", summary_text(summary));
  const auto search = [&](const ThresholdAxes& axes, const char* name) {
    if (signal == 0) signal = search_thresholds(session.plan(), axes, folder, name, place);
  };
  search(threshold_axes(session.plan()), kThresholds);
  search(refill_axes(session.plan()), kRefillThresholds);
  if (signal == 0) signal = measure_edges(session.plan(), points, folder);
  // Replays on different hosts of a fleet would not be comparable.
  ReplayedWorkloads replayed;
  if (signal == 0 && !place.slurm) replayed = replay_workloads(session.plan(), folder);
  if (signal == 0) signal = replayed.signal;
  if (signal != 0) {
    say_interrupted(fmt::format("{} of {} points were measured; resume with: zerotax study --resume {}{}",
                                session.points().size(), session.plan().points.size(), folder,
                                place.slurm ? " --on slurm" : ""));
    return ExitStatus::kDone;
  }
  const StoredRun stored = read_all_but_points(folder);
  fleet::leave_out_times(stored.comparable_times, points);
  const std::vector<AllocatorFindings> found =
      find_findings(points, stored.thresholds, {stored.edges, stored.controls});
  const Json findings = findings::findings_json(found, folder);
  session.folder()->write("findings.json", json_text(findings));
  const std::string no_figures = draw_figures(folder);
  const std::string no_page = write_report_page(folder);
  if (!no_figures.empty()) print_text(stderr, "zerotax: no figures: {}\n", no_figures);
  if (!no_page.empty()) print_text(stderr, "zerotax: no page: {}\n", no_page);
  const Written written{folder, place.slurm, no_figures.empty(), no_page.empty()};
  const std::string next = next_step(found, points);
  if (wants_full_text()) {
    print_lines(stdout, summary_text(summary) + "\n" + (replayed.text.empty() ? "" : replayed.text + "\n"));
    print_text("{} (zerotax findings {})\n", findings_count(found), folder);
    print_lines(stdout, files_text(written));
    say_next(next);
  } else {
    print_lines(stdout, answer_text(answer(summary, found, written, next)));
  }
  const bool healthy = std::all_of(points.begin(), points.end(), [](const Point& point) { return is_healthy(point); });
  return healthy ? ExitStatus::kDone : ExitStatus::kFinding;
}

const Subcommand command("study", Wing::kAllocator, "Measure every allocator and report needless zeroing", kExamples,
                         [](Arguments& arguments) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<MeasureOptions>();
                           const auto full = std::make_shared<bool>(false);
                           options->add_allocators(arguments);
                           options->add_folder(arguments, {"--on", "--thorough"});
                           options->add_audit_only(arguments);
                           options->add_huge_pages(arguments);
                           options->fleet.add(arguments);
                           arguments.flag("--thorough", *full,
                                          "measure more sizes, touched fractions and threads, with more repeats");
                           return [options, full] { return study(*options, *full); };
                         });

}  // namespace

}  // namespace zerotax::study
