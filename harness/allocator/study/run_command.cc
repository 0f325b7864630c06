#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "base/answer.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/shell.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "files/results.h"
#include "findings/findings.h"
#include "findings/summary.h"
#include "judge/judgement.h"
#include "os/load.h"
#include "os/print.h"
#include "point/plan.h"
#include "point/typed_point.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "run/probe_identity.h"
#include "run/session.h"
#include "study/loops.h"
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

constexpr std::size_t kLongestLabel = 22;

bool zeroes_needlessly(const Point& point) {
  const auto calls = redundant_calls(point);
  return calls && !calls->empty();
}

double cost_of(const Point& point, Metric metric) { return point.number(metric).value_or(0); }

/// Sorts points: failed ones first, then those with a result by `metric`, the largest value first.
std::vector<Point> sorted(std::vector<Point> points, Metric metric) {
  std::stable_sort(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    const auto weight = [&](const Point& point) {
      return std::tuple(!is_healthy(point), point.is_ok(), cost_of(point, metric),
                        cost_of(point, Metric::kRedundantZeroedBytes));
    };
    return weight(a) > weight(b);
  });
  return points;
}

/// Returns a label. Omits the version of a preloaded library, because that version is often a build ID.
std::string label_of(const Point& point) {
  return point.preload ? point.allocator + settings_words(point.env) : allocator_label(point);
}

std::string place_of(const Point& point) {
  return fmt::format("{} at {}, touch {:g}{}", label_of(point), format_size(point.size_bytes), point.touch,
                     point.thread == "worker" ? ", worker thread" : "");
}

Table plain_table(const std::vector<Point>& points, const Palette& palette) {
  Table table({{"allocator", Unit::kText, 16},
               right_text("size", 9),
               {"touch", Unit::kNumber, 5},
               right_text("calloc", 9),
               right_text("faults", 8),
               right_text("zeroed", 9),
               right_text("needless", 9),
               {"", Unit::kText}});
  for (const Point& point : points) {
    const std::string mark = !is_healthy(point)         ? palette(Tone::kWorse, "!")
                             : zeroes_needlessly(point) ? palette(Tone::kWorse, "*")
                                                        : "";
    table.add({first_characters(label_of(point) + (point.thread == "worker" ? " (worker)" : ""), kLongestLabel),
               format_size(point.size_bytes), point.touch, time_word(point, Metric::kCallocNs),
               count_word(point, Metric::kCallocFaults), bytes_word(point, Metric::kZeroedBytes),
               bytes_word(point, Metric::kRedundantZeroedBytes), Cell::colored(mark)});
  }
  return table;
}

Table copies_table(const std::vector<Point>& points) {
  Table table({{"forking", Unit::kText, 22},
               right_text("size", 10),
               {"touch", Unit::kNumber, 5},
               right_text("fork", 10),
               right_text("child", 10),
               right_text("parent", 10)});
  for (const Point& point : points) {
    table.add({first_characters(label_of(point), kLongestLabel), format_size(point.size_bytes), point.touch,
               time_word(point, Metric::kForkNs), count_word(point, Metric::kChildCopies),
               count_word(point, Metric::kParentCopies)});
  }
  return table;
}

/// A kind of points: of cases that fork, of cases that receive, of cases that refill, or of all other cases.
struct Kind {
  bool (*has)(const Point&);
  Metric cost;
};
constexpr Kind kKinds[] = {
    {[](const Point& point) { return point.has(MetricGroup::kFork); }, Metric::kForkNs},
    {[](const Point& point) { return point.has(MetricGroup::kTransfer); }, Metric::kCpuSPerGb},
    {[](const Point& point) { return point.case_name == "refill_loop"; }, Metric::kRefilledBytes},
    {[](const Point&) { return true; }, Metric::kCallocNs}};

/// Returns the first of kKinds to which any of the points belongs.
const Kind& kind_of(const std::vector<Point>& points) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) {
    return points.empty() || std::any_of(points.begin(), points.end(), kind.has);
  });
}

std::string needless_words(const std::vector<Point>& points) {
  const auto worst = std::find_if(points.begin(), points.end(), zeroes_needlessly);
  const auto count = std::count_if(points.begin(), points.end(), zeroes_needlessly);
  if (worst == points.end()) {
    const auto slowest = std::find_if(points.begin(), points.end(), [](const Point& point) { return point.is_ok(); });
    const auto known = static_cast<std::size_t>(std::count_if(
        points.begin(), points.end(), [](const Point& point) { return redundant_calls(point).has_value(); }));
    std::string text =
        known == 0 ? "It is unknown whether calloc zeroes memory needlessly."
                   : fmt::format("calloc zeroes nothing needlessly at any of {}.", format_counted(known, "point"));
    if (known > 0 && known < points.size()) {
      text += fmt::format(" Unknown at {}.", format_counted(points.size() - known, "more point"));
    }
    if (slowest == points.end() || !slowest->number(Metric::kCallocNs)) return text;
    return text + fmt::format(" Slowest: {} for {}.", time_word(*slowest, Metric::kCallocNs), place_of(*slowest));
  }
  const RedundantCalls calls = redundant_calls(*worst)->front();
  const auto ns = calls.every() ? worst->number(Metric::kCallocNs) : calls.calloc_ns;
  return fmt::format(
      "calloc zeroes memory needlessly at {} of {}. Worst: {}: {} zeroes {} bytes that are zero already{}.", count,
      format_counted(points.size(), "point"), place_of(*worst), which_calls(calls), redundant_words(calls),
      ns ? fmt::format(", in {}", format_ns(*ns)) : "");
}

std::string headline(const std::vector<Point>& points, Metric cost) {
  const Point& worst = points.front();
  const std::string others =
      points.size() > 1 ? fmt::format(", the most of {}", format_counted(points.size(), "point")) : "";
  if (!worst.is_ok() && is_healthy(worst)) {
    return fmt::format("No point was measured. First: {}: {}.", place_of(worst),
                       worst.reason.value_or("no reason is given"));
  }
  if (!is_healthy(worst)) {
    const auto broken =
        std::count_if(points.begin(), points.end(), [](const Point& point) { return !is_healthy(point); });
    return fmt::format("{} of {} failed. First: {}: {}: {}.", broken, format_counted(points.size(), "point"),
                       place_of(worst), word_of(worst.status), worst.reason.value_or("no reason is given"));
  }
  switch (cost) {
    case Metric::kForkNs:
      return fmt::format("A fork takes {} with {}{}.", time_word(worst, cost), place_of(worst), others);
    case Metric::kCpuSPerGb:
      return fmt::format("Receiving data takes {} s of CPU time per GB with {} ({}){}.",
                         format_number(cost_of(worst, cost)), place_of(worst), worst.case_name, others);
    case Metric::kRefilledBytes:
      return fmt::format("The kernel zeroes {} again in each round with {}{}.", bytes_word(worst, cost),
                         place_of(worst), others);
    default:
      return needless_words(points);
  }
}

Table table_of(const std::vector<Point>& points, Metric cost, const Palette& palette) {
  return cost == Metric::kForkNs          ? copies_table(points)
         : cost == Metric::kCpuSPerGb     ? transfers_table(points)
         : cost == Metric::kRefilledBytes ? refills_table(points)
                                          : plain_table(points, palette);
}

std::vector<std::string> warnings(const std::vector<Point>& points, const std::optional<Load>& load) {
  std::vector<std::string> all;
  for (const Point& point : points) {
    if (point.is_ok() || (&point == &points.front() && !is_healthy(point))) continue;
    all.push_back(fmt::format("{}: {}: {}.", place_of(point), word_of(point.status),
                              point.reason.value_or("no reason is given")));
  }
  for (const Point& point : points) {
    if (point.evident_count(Metric::kZeroedInFreeBytes).value_or(0) == 0) continue;
    all.push_back(fmt::format("{}: free zeroes {}, {} of it redundant.", place_of(point),
                              bytes_word(point, Metric::kZeroedInFreeBytes),
                              bytes_word(point, Metric::kRedundantZeroedInFreeBytes)));
  }
  const auto unlike =
      std::count_if(points.begin(), points.end(), [](const Point& point) { return !mode_lines(point).empty(); });
  if (unlike > 0) {
    all.push_back(fmt::format("At {} the calls differ, so numbers are medians.",
                              format_counted(static_cast<std::uint64_t>(unlike), "point")));
  }
  if (const std::string busy = findings::load_sentence(load); !busy.empty()) all.push_back(busy);
  return all;
}

/// Returns the answer with the most costly points first. `next` is a command for the next step; empty if no point has a
/// finding.
Answer points_answer(const std::vector<Point>& all, const std::optional<Load>& load, const std::string& next,
                     const Palette& palette) {
  if (all.empty()) return {.headline = "No point was measured."};
  const Kind& kind = kind_of(all);
  std::vector<Point> points = all;
  std::erase_if(points, [&](const Point& point) { return !kind.has(point); });
  points = sorted(std::move(points), kind.cost);
  Answer answer{.headline = headline(points, kind.cost), .table = table_of(points, kind.cost, palette)};
  if (!next.empty()) answer.steps.push_back({next, ""});
  answer.warnings = warnings(points, load);
  if (points.size() < all.size()) {
    answer.warnings.push_back(
        fmt::format("{} of other cases are not shown.", format_counted(all.size() - points.size(), "point")));
  }
  answer.legend = kind.cost == Metric::kCallocNs
                      ? "Medians of one call in the steady state. *: needless zeros. n/a: not measured."
                  : kind.cost == Metric::kForkNs ? "child, parent: pages copied after the fork. n/a: not measured."
                                                 : "n/a: not measured.";
  answer.more = "All points, kinds of calls, and memory held";
  return answer;
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
