#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include "base/size.h"
#include "baseline/options.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "compare/bench.h"
#include "compare/compare_document.h"
#include "compare/comparison.h"
#include "compare/cow.h"
#include "compare/options.h"
#include "compare/points.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "os/print.h"
#include "run/interrupt.h"

namespace zerotax::compare {
namespace {

constexpr const char* kExamples =
    "  zerotax compare mimalloc jemalloc\n"
    "  zerotax compare ./v1/libmine.so ./v2/libmine.so --size 1MiB --touch 1 --explain 1\n"
    "  zerotax compare jemalloc jemalloc --env new:MALLOC_CONF=retain:false\n"
    "  zerotax compare results/before results/after --markdown changes.md\n"
    "  zerotax compare bench-old.json bench-new.json\n"
    "  zerotax compare cow-old.json cow-new.json\n"
    "  zerotax compare results/v1 results/v2 results/v3 --html versions.html\n"
    "  zerotax compare tcmalloc jemalloc --along touch --size 1MiB\n"
    "  zerotax compare glibc mine=./libmine.so --along size --from 1MiB --to 64MiB --json crossover.json\n"
    "  zerotax compare v1=./v1/libmine.so v2=./v2/libmine.so --junit compare.xml --html compare.html\n"
    "  zerotax compare -- ./decoder-old input.bin --- ./decoder-new input.bin\n"
    "  zerotax compare --env new:MALLOC_TRIM_THRESHOLD_=1073741824 -- ./decoder --- ./decoder\n"
    "Two commands run without a terminal; their input and output are /dev/null.\n";

constexpr std::int64_t kMostPairs = 200;
/// Number of pairs in addition to the minimum that can prove a difference, so that one pair may have the opposite sign.
constexpr std::int64_t kSpare = 4;
/// Number of shuffles that determines the false-alarm rate to a tenth of a percent. If there are many points, fewer
/// shuffles are made, because this number would take seconds.
constexpr std::size_t kMostShuffles = 10'000;
constexpr std::size_t kFewestShuffles = 1'000;
constexpr std::size_t kShuffledPairs = 1'500'000;

void check(const Options& options, bool files) {
  options.measure.check();
  check_cost(options.cost);
  for (const Argument& option : options.of_measuring) {
    if (!files || !option.given()) continue;
    throw UsageError(fmt::format("{} has no effect on stored runs", option.name()),
                     "leave out the option, or compare allocators");
  }
}

/// Checks files before a measurement. `inputs` are the runs or libraries that are compared.
void check_files(const Options& options, const std::vector<NamedPath>& inputs) {
  std::vector<NamedPath> outputs = options.exchange.outputs();
  outputs.push_back({"--csv", options.csv});
  if (!options.google.empty()) {
    std::error_code failure;
    if (options.google == "-" || options.google.ends_with('/') ||
        std::filesystem::is_directory(options.google, failure)) {
      throw UsageError(fmt::format("--benchmark-json {} is not the start of a file's name", options.google),
                       "give a prefix, because two files are written, as in PREFIX-old.json");
    }
    outputs.push_back({"--benchmark-json", options.google + "-old.json"});
    outputs.push_back({"--benchmark-json", options.google + "-new.json"});
  }
  check_outputs(outputs, inputs);
}

std::vector<NamedPath> inputs_of(const std::string& option, const std::vector<std::string>& files) {
  std::vector<NamedPath> inputs;
  inputs.reserve(files.size());
  for (const std::string& file : files) inputs.push_back({option, file});
  return inputs;
}

ComparePlan make_plan(const Options& options, const CompareMethod& method) {
  ComparePlan plan;
  MeasureOptions measure = options.measure;
  if (measure.touches.empty()) measure.touches = {0, 1};
  plan.axes = measure.axes();
  const std::size_t points =
      plan.axes.cases.size() * plan.axes.sizes.size() * plan.axes.touches.size() * plan.axes.threads.size();
  const auto fewest = static_cast<std::int64_t>(fewest_pairs(points, method.alpha));
  const std::int64_t pairs =
      options.pairs != kNotGiven ? options.pairs : std::max<std::int64_t>(kUsualPairs, fewest + kSpare);
  if (pairs < fewest || pairs > kMostPairs) {
    throw UsageError(fmt::format("--rounds {} is out of range at {} points", pairs, points),
                     fmt::format("give {} to {}, or fewer points", fewest, kMostPairs));
  }
  plan.pairs = static_cast<unsigned>(pairs);
  plan.cost = options.paid();
  plan.timeout_s = options.measure.timeout_s;
  plan.coins = method.seed;
  std::tie(plan.before, plan.after) = resolve_sides(options.before, options.after, options.measure.env);
  return plan;
}

/// Returns the index of a point, given by its number in the table or its key.
std::size_t find_point(const std::vector<ComparedPoint>& points, const std::string& word) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size() && number >= 1 && number <= points.size()) {
    return number - 1;
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string key = compared_key(points[i]);
    if (word == key || word == points[i].before.allocator + "/" + key) return i;
  }
  const std::string example = points.empty() ? "" : ", or as in " + compared_key(points[0]);
  throw UsageError(fmt::format("--explain {} names no point", word),
                   fmt::format("give a number from 1 to {}{}", points.size(), example));
}

CompareReport measure(const Options& options) {
  CompareReport report;
  check_files(options, {});
  const ComparePlan plan = make_plan(options, report.method);
  check_files(options, {{"the library of OLD", plan.before.preload.value_or("")},
                        {"the library of NEW", plan.after.preload.value_or("")}});
  for (const std::string& word : options.explain) find_point(planned_points(plan), word);
  report.before = {plan.before, "", describe_environment()};
  report.after = {plan.after, "", report.before.environment};
  report.cost = plan.cost;
  report.pairs = plan.pairs;
  const std::uint64_t largest = *std::max_element(plan.axes.sizes.begin(), plan.axes.sizes.end());
  if (why_too_large(largest).empty()) warm_up(2 * largest);
  report.whole = measure_comparison(plan, report.points);
  report.verdicts = judge_points(report.points, report.method);
  const std::size_t pairs = report.points.size() * report.pairs;
  report.shuffles = std::clamp(kShuffledPairs / pairs, kFewestShuffles, kMostShuffles);
  report.shuffled_rate = false_alarm_rate(time_samples(report.points), report.shuffles, report.method);
  return report;
}

/// Refuses more than two runs for outputs and options that support only two sides.
void check_more(const Options& options, bool files) {
  if (options.more.empty()) return;
  if (!files)
    throw UsageError("allocators are compared two at a time", "measure each allocator, and compare the stored runs");
  std::vector<NamedPath> outputs = options.exchange.outputs();
  outputs.insert(outputs.end(), {{"--csv", options.csv}, {"--benchmark-json", options.google}});
  for (const NamedPath& each : outputs) {
    if (each.path.empty() || each.option == "--json" || each.option == "--html") continue;
    throw UsageError(each.option + " needs exactly two runs", "leave out the further runs, or use --json or --html");
  }
  if (!options.explain.empty()) throw UsageError("--explain needs exactly two runs", "leave the further runs out");
}

/// Compares OLD with another run. `whose` is the name of the other run in messages.
CompareReport read(const Options& options, const std::string& other, const std::string& whose) {
  CompareReport report;
  const RunFile before = read_run_file(options.before);
  const RunFile after = read_run_file(other);
  auto inputs = inputs_of("OLD", before.files);
  for (const NamedPath& input : inputs_of(whose, after.files)) inputs.push_back(input);
  check_files(options, inputs);
  report.measured = false;
  report.before = {std::nullopt, before.path, before.environment};
  report.after = {std::nullopt, after.path, after.environment};
  report.cost = options.paid();
  report.points = compare_run_files(before, after, report.cost);
  for (const std::string& word : options.explain) find_point(report.points, word);
  report.verdicts = judge_points(report.points, report.method);
  return report;
}

/// Prints the comparisons of OLD with each other run.
void show(const Options& options, const std::vector<const CompareReport*>& reports) {
  const Palette palette = palette_for(stdout);
  const bool full = wants_full_text();
  if (!full && reports.size() > 1) print_lines(stdout, answer_text(compare_answer(reports)));
  for (const CompareReport* report : reports) {
    if (full) {
      print_lines(stdout, (report == reports.front() ? "" : "\n") + compare_text(*report, palette));
    } else if (reports.size() == 1) {
      print_lines(stdout, answer_text(compare_answer(*report, Subcommand::command_line, palette)));
    }
    if (options.plot) print_lines(stdout, "\n" + compare_plot(*report, plot_style()));
  }
}

ExitStatus compare(const Options& options) {
  if (!options.along.empty()) return compare_along(options);
  const bool files = is_run_file(options.before);
  if (files != is_run_file(options.after)) {
    throw UsageError("a run cannot be compared with an allocator", "give two runs, or two allocators");
  }
  const auto any_is = [&](const char* schema) {
    return files && (is_document(options.before, schema) || is_document(options.after, schema));
  };
  if (any_is("zerotax.bench/1")) return compare_bench(options);
  if (any_is("zerotax.cow/1")) return compare_cow(options);
  check(options, files);
  check_more(options, files);
  options.exchange.check_page();
  const CompareReport report = files ? read(options, options.after, "NEW") : measure(options);
  std::vector<CompareReport> more;
  for (const std::string& other : options.more) more.push_back(read(options, other, "MORE"));
  const exchange::OutcomeList outcomes = compare_outcomes(report);
  CompareDocument document = compare_document(report);
  for (const CompareReport& each : more) document.more.emplace_back(compare_document(each));
  options.exchange.write(outcomes, document);
  if (!options.csv.empty()) write_file(options.csv, compare_csv(report));
  if (!options.google.empty()) {
    write_file(options.google + "-old.json", json_text(google_benchmark_json(report, false)));
    write_file(options.google + "-new.json", json_text(google_benchmark_json(report, true)));
  }
  const bool silent = options.exchange.silent() || options.csv == "-";
  std::vector<const CompareReport*> reports{&report};
  for (const CompareReport& each : more) reports.push_back(&each);
  if (!silent) show(options, reports);
  for (const std::string& word : options.explain) {
    const std::size_t at = find_point(report.points, word);
    if (!silent) print_lines(stdout, "\n" + explain_text(report, at));
  }
  options.exchange.print_annotations(outcomes);
  if (!report.whole) say_interrupted("the verdicts cover the pairs measured so far");
  std::vector<CompareVerdict> verdicts = report.verdicts;
  for (const CompareReport& each : more) verdicts.insert(verdicts.end(), each.verdicts.begin(), each.verdicts.end());
  return compare_status(verdicts);
}

ExitStatus compare_either(const Options& options) {
  const std::vector<std::string> words = Subcommand::program_words();
  if (words.empty()) {
    if (options.before.empty() || options.after.empty()) {
      throw UsageError("no allocators, runs or commands to compare",
                       "give OLD and NEW, or two commands: zerotax compare -- COMMAND --- COMMAND");
    }
    return compare(options);
  }
  options.measure.check();
  const auto other = std::find_if(options.explain.begin(), options.explain.end(),
                                  [](const std::string& word) { return word != "all"; });
  if (other != options.explain.end()) {
    throw UsageError(fmt::format("--explain {} names no point", *other),
                     "give --explain all, because commands have no points");
  }
  return compare_programs(options, words);
}

std::function<ExitStatus()> configure(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  const char* what =
      "a run (results folder, run.json), a file of bench --json or cow --json, or an allocator: NAME, NAME=PATH, or a "
      "library's path";
  arguments.option("OLD", options->before, what).path();
  arguments
      .option("NEW", options->after, "the run, file or allocator to compare with OLD; OLD and NEW are of the same kind")
      .path();
  options->of_points.push_back(
      arguments.option("MORE", options->more, "further stored runs, each of which is compared with OLD").path());
  arguments
      .option("--along", options->along,
              "find where the cheaper of two allocators changes along this axis: size, or touch at one --size")
      .shown_as("AXIS")
      .completed_by(axis_names)
      .word();
  for (Argument each : {add_from(arguments, options->from), add_to(arguments, options->to),
                        add_grid(arguments, options->grid).in_range(1, 64, "sizes per octave")}) {
    each.needs({"--along=size"}, {"{0} needs --along size", "give --along size, or leave out {0}"});
  }
  MeasureOptions& measure = options->measure;
  options->of_measuring = measure.add_compared(arguments);
  options->of_measuring.push_back(
      add_rounds(arguments, options->pairs, "pairs", fmt::format("{}, more for many points", kUsualPairs)));
  add_cost(arguments, options->cost);
  arguments
      .option("--explain", options->explain,
              "explain the verdict on the point with this number or name (repeatable); for commands, all lists every "
              "change")
      .shown_as("POINT")
      .repeatable();
  add_plot_option(arguments, options->plot, "show the ratio of each point");
  options->exchange.add(arguments);
  options->exchange.add_html(arguments);
  arguments.option("--csv", options->csv, "write comma-separated values to this file").path();
  arguments
      .option("--benchmark-json", options->google,
              "write PREFIX-old.json and PREFIX-new.json for Google Benchmark's compare.py")
      .path();
  for (const char* name : {"--case", "--explain", "--plot", "--junit", "--markdown", "--bmf", "--github", "--html",
                           "--csv", "--benchmark-json"}) {
    options->of_points.push_back(arguments.find(name));
  }
  for (Argument& each : options->of_points) {
    each.excludes({"--along"}, {"{0} cannot be given with {1}", "leave out {0}"});
  }
  arguments.find("--touch").excludes({"--along=touch"},
                                     {"{0} cannot be given with {1}", "leave out {0}, or give --along size"});
  arguments.find("--size").excludes({"--along=size"},
                                    {"{0} cannot be given with {1}", "leave out {0}, or give --along touch"});
  for (const char* name : {"OLD", "NEW", "--along", "--from", "--to", "--grid", "--case", "--size", "--touch",
                           "--thread", "--cost", "--plot", "--html", "--csv", "--benchmark-json"}) {
    arguments.find(name).excludes({"--"}, baseline::kOfAllocators);
  }
  return [options] { return compare_either(*options); };
}

const Subcommand command("compare", Wing::kRegression, "Judge what changed between two runs, versions or programs",
                         kExamples, configure);

}  // namespace
}  // namespace zerotax::compare
