#include <fmt/format.h>

#include <memory>

#include "check/check_document.h"
#include "check/cut.h"
#include "check/lasting_changes.h"
#include "check/measure.h"
#include "check/outcomes.h"
#include "check/subject.h"
#include "cli/colour.h"
#include "cli/common_options.h"
#include "cli/exchange_options.h"
#include "cli/measure_options.h"
#include "cli/next_step.h"
#include "cli/subcommand.h"
#include "core/interrupt.h"
#include "core/output_paths.h"
#include "os/environment.h"
#include "os/load.h"

namespace zerotax::check {
namespace {

constexpr const char* kExamples =
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so\n"
    "  zerotax check --baseline tests/regression/baselines/jemalloc-5.3.0.json\n"
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so --explain\n"
    "  zerotax check --baseline mine.json --size 20MiB --only calloc_faults --only zeroed_bytes\n"
    "  zerotax check --baseline mine.json --tolerance returned_bytes=5% --json check.json\n"
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so --junit check.xml --github\n";

struct Options {
  MeasureOptions measure;
  std::string baseline;
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

/// What the command line left out.
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
  BaselineVerdict verdict = hold_against(
      compared,
      [&](const BaselinePart& part, const PointTime& time) {
        return measure_baseline(subject.allocator, timeout_s, part, time);
      },
      scope.tolerances);
  CheckResult result;
  result.allocator = subject.allocator;
  result.baseline_path = subject.path;
  // What a change means is judged with all that is known, also where less was asked for.
  result.review = review_changes(scope.all_metrics || !scope.metrics.empty() ? sizes : compared, verdict.measured,
                                 std::move(verdict.changes));
  result.baseline = compared;
  result.measured = verdict.measured;
  add_left_out(subject.baseline, scope, result);
  add_names(verdict.unsteady, "not the same each time", result);
  add_names(verdict.by_the_clock, "depends on the clock", result);
  add_names(verdict.tolerated, "within the tolerance", result);
  if (scope.all_metrics) {
    for (NotCompared& each : metrics_not_compared(compared, verdict.measured)) {
      result.not_compared.push_back(std::move(each));
    }
  }
  result.accepted_failures = failing_in_baseline(compared);
  result.measured_on = conditions_of(describe_environment());
  result.conditions = differing_conditions(subject.baseline.measured_on, result.measured_on, result.review.changes);
  result.load = load_json(start, read_load());
  result.notes = subject.notes;
  result.accept = subject.accept;
  return result;
}

ExitStatus report(const std::vector<CheckResult>& results, const Options& options) {
  const Json document = check_json(results, options.strict);
  const exchange::OutcomeList outcomes = check_outcomes(results, document, options.strict);
  if (!options.exchange.silent()) fmt::print("{}", check_text(document, options.explain, palette_for(stdout)));
  options.exchange.print_annotations(outcomes);
  options.exchange.write(outcomes, document);
  say_next(next_step(document, options.explain, Subcommand::command_line));
  return status_of(document);
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
    } catch (const UsageError&) {
      // What was finished before an interruption is kept.
      if (stop_requested() && !results.empty()) report(results, options);
      throw;
    }
  }
  return report(results, options);
}

const Subcommand command(
    "check", "compare an allocator's deterministic metrics with a baseline", kExamples,
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
                  "METRIC=N, N% or SIZE: a difference of so much is none (repeatable)")
          .shown_as("METRIC=N")
          .repeatable();
      arguments.flag("--strict", options->strict, "exit with 1 for improvements, too");
      arguments.flag("--explain", options->explain, "list every changed metric, and all that was not compared");
      arguments.flag("--force", options->force,
                     "hold a built-in allocator against the baseline of another, or leave out the settings it names");
      options->exchange.add(arguments);
      options->exchange.add_html(arguments);
      return [options] { return check(*options); };
    });

}  // namespace
}  // namespace zerotax::check
