#include <fmt/format.h>

#include <memory>

#include "check/document.h"
#include "check/lasting_changes.h"
#include "check/measure.h"
#include "check/subject.h"
#include "check/table.h"
#include "cli/common_options.h"
#include "cli/exchange_options.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "os/load.h"
#include "os/print.h"
#include "programs/programs.h"
#include "run/interrupt.h"

namespace zerotax::check {
namespace {

constexpr const char* kExamples =
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so\n"
    "  zerotax check --baseline tests/regression/baselines/jemalloc-5.3.0.json\n"
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so --explain\n"
    "  zerotax check --baseline mine.json --size 20MiB --only calloc_faults --only zeroed_bytes\n"
    "  zerotax check --baseline mine.json --tolerance returned_bytes=5% --json check.json\n"
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so --junit check.xml --github\n"
    "  zerotax check --baseline programs.json -- ./decoder input.bin\n"
    "  zerotax check --baseline programs.json --name small --explain -- ./decoder small.bin\n"
    "  zerotax check --baseline programs.json --html check.html -- ./decoder input.bin\n"
    "  zerotax check --baseline workloads.json --allocator mine=./libmine.so -- workloads/*.calls\n"
    "A command runs without a terminal; its input and output are /dev/null.\n";

struct Options {
  MeasureOptions measure;
  std::string baseline;
  std::string name;
  std::vector<std::string> only;
  std::vector<std::string> tolerances;
  bool explain = false;
  bool strict = false;
  bool force = false;
  ExchangeOptions exchange;
};

void add_names(const std::vector<std::string>& names, const char* why, CheckResult& result) {
  for (const std::string& name : names) result.not_compared.push_back({name, why});
}

/// Adds what the command line left out.
void add_left_out(const Baseline& whole, const CheckScope& scope, CheckResult& result) {
  if (!scope.sizes.empty()) result.not_compared.push_back({"points of other sizes", "left out by --size"});
  if (!scope.all_metrics) result.not_compared.push_back({"all other metrics", "left out by --only"});
  if (!whole.thresholds) {
    result.not_compared.push_back({"thresholds", "the baseline does not hold them"});
  } else if (!scope.thresholds) {
    result.not_compared.push_back({"thresholds", scope.sizes.empty() ? "left out by --only" : "left out by --size"});
  }
}

CheckResult hold(const CheckSubject& subject, const CheckScope& scope, double timeout_s) {
  const LoadReading start = read_load();
  const Baseline sizes = cut_to_sizes(subject.baseline, scope, subject.path);
  const Baseline compared = cut_to_metrics(sizes, scope);
  Measurer measurer(subject.allocator, timeout_s);
  BaselineVerdict verdict = hold_against(
      compared, [&](const BaselinePart& part, const PointTime& time) { return measurer.measure(part, time); },
      scope.tolerances);
  CheckResult result;
  result.allocator = subject.allocator;
  result.baseline_path = subject.path;
  // The review judges a change by all known figures, even if the command line asked for fewer.
  result.review = review_changes(scope.all_metrics || !scope.metrics.empty() ? sizes : compared, verdict.measured,
                                 std::move(verdict.changes));
  result.verdict = result.review.verdict;
  result.sentence = result.review.sentence;
  result.baseline = compared;
  result.measured = verdict.measured;
  add_left_out(subject.baseline, scope, result);
  add_names(verdict.unsteady, "not the same each time", result);
  add_names(verdict.by_the_clock, "depends on the clock", result);
  add_names(verdict.tolerated, "within the tolerance", result);
  add_names(result.review.too_small, "differs by less than a tenth of the block", result);
  if (scope.all_metrics) {
    for (NotCompared& each : metrics_not_compared(compared, verdict.measured)) {
      result.not_compared.push_back(std::move(each));
    }
  }
  result.accepted_failures = failing_in_baseline(compared);
  result.measured_on = conditions_of(describe_environment());
  result.conditions = differing_conditions(subject.baseline.measured_on, result.measured_on, result.review.changes);
  result.load = load_between(start, read_load());
  result.notes = subject.notes;
  result.accept = subject.accept;
  return result;
}

ExitStatus report(std::vector<CheckResult> results, const Options& options) {
  const Check check = check_of(std::move(results), options.strict);
  options.exchange.publish(check_outcomes(check), check_json(check),
                           check_text(check, options.explain, palette_for(stdout)));
  say_next(next_step(check, options.explain, Subcommand::command_line));
  return check.passed ? ExitStatus::kDone : ExitStatus::kFinding;
}

ExitStatus check(const Options& options) {
  options.measure.check();
  const CheckScope scope = parse_scope(options.measure.sizes, options.only, options.tolerances);
  const std::vector<CheckSubject> subjects = resolve_subjects(options.measure, options.baseline, options.force);
  std::vector<NamedPath> inputs = library_inputs(options.measure.allocators);
  for (const CheckSubject& subject : subjects) {
    inputs.push_back({"--baseline", subject.path});
    cut_to_sizes(subject.baseline, scope, subject.path);
  }
  check_outputs(options.exchange.outputs(), inputs);
  options.exchange.check_page();
  std::vector<CheckResult> results;
  for (const CheckSubject& subject : subjects) {
    try {
      results.push_back(hold(subject, scope, options.measure.timeout_s));
    } catch (const Stop&) {
      if (results.empty()) throw;
      report(std::move(results), options);
      say_interrupted();
      return ExitStatus::kDone;
    }
  }
  return report(std::move(results), options);
}

ExitStatus check_either(const Options& options, const Arguments& arguments) {
  const std::vector<std::string> words =
      programs::command_words(arguments, {"--size", "--only", "--tolerance"}, {"--name"});
  if (words.empty()) return check(options);
  options.measure.check();
  const MeasureOptions& measure = options.measure;
  return programs::check({words, options.baseline, options.name, measure.env, measure.allocators, measure.timeout_s},
                         options.strict, options.explain, options.exchange);
}

const Subcommand command(
    "check", Wing::kRegression, "compare what an allocator or a program does with a baseline", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      MeasureOptions& measure = options->measure;
      measure.add_allocators(arguments, "the one that the baseline names");
      arguments.option("--baseline", options->baseline, "a baseline, or a folder of them").required().path();
      add_sizes(arguments, measure.sizes, "all of the baseline, and thresholds");
      arguments.option("--only", options->only, "only this metric, or thresholds (repeatable)")
          .shown_as("METRIC")
          .repeatable()
          .completed_by(compared_words);
      arguments
          .option("--tolerance", options->tolerances,
                  "METRIC=N, N% or SIZE: ignore differences of up to this (repeatable)")
          .shown_as("METRIC=N")
          .repeatable();
      arguments.flag("--strict", options->strict, "exit with 1 for improvements, too");
      arguments.flag("--explain", options->explain, "list every changed metric, and all that was not compared");
      arguments.flag(
          "--force", options->force,
          "compare a built-in allocator with the baseline of another, or leave out the settings it names; let an "
          "output replace a file that zerotax did not write");
      programs::add_name(arguments, options->name);
      options->exchange.add(arguments);
      options->exchange.add_html(arguments);
      return [options, arguments] { return check_either(*options, arguments); };
    });

}  // namespace
}  // namespace zerotax::check
