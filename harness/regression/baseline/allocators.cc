#include "run/allocators.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/size.h"
#include "baseline/check_document.h"
#include "baseline/document.h"
#include "baseline/lasting_changes.h"
#include "baseline/measurer.h"
#include "baseline/options.h"
#include "baseline/subject.h"
#include "baseline/table.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/document.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "os/load.h"
#include "os/print.h"
#include "prove/run.h"
#include "run/interrupt.h"
#include "run/wait_lock.h"

namespace zerotax::baseline {
namespace {

/// Returns whether a baseline may be written, and prints the points that fail. A baseline should contain only healthy
/// points.
bool may_be_blessed(const Allocator& allocator, const std::vector<Baseline>& measured, bool allow_failing) {
  std::vector<std::string> failing;
  for (const Baseline& each : measured) {
    for (const std::string& line : failing_in_baseline(each)) {
      if (std::find(failing.begin(), failing.end(), line) == failing.end()) failing.push_back(line);
    }
  }
  if (failing.empty()) return true;
  const char* consequence = allow_failing
                                ? "the baseline contains points that fail"
                                : "no baseline is written, because these points fail (--allow-failing accepts them;"
                                  " zerotax run explains the failures)";
  print_text("{} {}: {}:\n", allocator.name, allocator.version, consequence);
  for (const std::string& line : failing) print_text("  {}\n", line);
  return allow_failing;
}

/// Returns the path of the baseline to write for each allocator. Throws UsageError if the allocators and files do not
/// match.
std::vector<std::string> paths_of(const Options& options, const std::vector<Allocator>& allocators) {
  std::error_code failure;
  const bool folder = std::filesystem::is_directory(options.baseline, failure);
  if (allocators.size() > 1 && !folder) {
    throw UsageError(fmt::format("{} allocators do not fit in the one file {}", allocators.size(), options.baseline),
                     "name an allocator with --allocator, or give --baseline a folder");
  }
  if (options.measure.allocators.size() == 1 && folder) {
    throw UsageError(
        fmt::format("{} is a folder, but the baseline of one allocator is a file", options.baseline),
        fmt::format("give the file, as in {}/{}", options.baseline, baseline_file_name(allocators.front())));
  }
  std::vector<std::string> paths;
  for (const Allocator& allocator : allocators) {
    paths.push_back(folder ? options.baseline + "/" + baseline_file_name(allocator) : options.baseline);
    check_outputs({{"--baseline", paths.back()}}, library_inputs(options.measure.allocators));
    check_overwrite(allocator, paths.back(), options.force);
  }
  return paths;
}

void add_names(const std::vector<std::string>& names, const char* why, AllocatorCheck& result) {
  for (const std::string& name : names) result.not_compared.push_back({name, why});
}

/// Adds to `not_compared` the parts of the baseline that --size and --only exclude.
void add_left_out(const Baseline& whole, const CheckScope& scope, AllocatorCheck& result) {
  if (!scope.sizes.empty()) result.not_compared.push_back({"points of other sizes", "left out by --size"});
  if (!scope.all_metrics) result.not_compared.push_back({"all other metrics", "left out by --only"});
  if (!whole.thresholds) {
    result.not_compared.push_back({"thresholds", "the baseline does not hold them"});
  } else if (!scope.thresholds) {
    result.not_compared.push_back({"thresholds", scope.sizes.empty() ? "left out by --only" : "left out by --size"});
  }
}

/// Searches for broken promises.
prove::Proof proof_of(const Allocator& allocator) {
  prove::Proofs proofs = prove::prove_all(prove::with_libraries({allocator}), prove::fixed_request(), {});
  end_if_stopped();
  return std::move(proofs.proofs.front());
}

AllocatorCheck check_one(const CheckSubject& subject, const CheckScope& scope, const Options& options) {
  const double timeout_s = options.measure.timeout_s;
  const LoadReading start = read_load();
  const Baseline sizes = cut_to_sizes(subject.baseline, scope, subject.path);
  const Baseline compared = cut_to_metrics(sizes, scope);
  Measurer measurer(subject.allocator, timeout_s);
  BaselineVerdict verdict = hold_against(
      compared, [&](const BaselinePart& part, const PointTime& time) { return measurer.measure(part, time); },
      scope.tolerances);
  AllocatorCheck result;
  result.allocator = subject.allocator;
  result.baseline_path = subject.path;
  // The review judges changes by all known metrics, even if the command line selects only some of them.
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
    const std::vector<NotCompared> missing = metrics_not_compared(compared, verdict.measured);
    result.not_compared.insert(result.not_compared.end(), missing.begin(), missing.end());
  }
  result.accepted_failures = failing_in_baseline(compared);
  result.measured_on = conditions_of(describe_environment());
  result.conditions = differing_conditions(subject.baseline.measured_on, result.measured_on, result.review.changes);
  result.load = load_between(start, read_load());
  result.notes = subject.notes;
  result.accept = subject.accept;
  if (options.prove) result.proof = proof_of(subject.allocator);
  return result;
}

}  // namespace

ExitStatus bless_allocators(const Options& options) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : options.measure.sizes) sizes.push_back(parse_size(size));
  check_sizes(sizes);
  const auto allocators = resolve_allocators(options.measure.allocators, options.measure.env);
  const std::vector<std::string> paths = paths_of(options, allocators);
  ExitStatus status = ExitStatus::kDone;
  for (std::size_t i = 0; i < allocators.size(); ++i) {
    const Allocator& allocator = allocators[i];
    const NewBaseline made =
        measure_new_baseline(allocator, options.measure.timeout_s, sizes, options.thresholds || sizes.empty());
    const Baseline& baseline = made.baseline;
    if (!may_be_blessed(allocator, made.measured, options.allow_failing)) {
      status = ExitStatus::kFinding;
      continue;
    }
    {
      const UniqueFd lock = wait_for_folder_lock(paths[i]);
      check_overwrite(allocator, paths[i], options.force);  // another command may have written the file during the
                                                            // measurement
      write_file(paths[i], json_text(to_json(baseline)));
    }
    print_text("{} {}: {}\n", allocator.name, allocator.version, paths[i]);
    print_lines(stdout, unsteady_text(baseline));
    for (const std::string& name : *baseline.by_the_clock) {
      print_text("  depends on the clock; measured with the clock stopped: {}\n", name);
    }
  }
  return status;
}

ExitStatus check_allocators(const Options& options) {
  const CheckScope scope = parse_scope(options.measure.sizes, options.only, options.tolerances);
  const std::vector<CheckSubject> subjects = resolve_subjects(options.measure, options.baseline, options.force);
  std::vector<NamedPath> inputs = library_inputs(options.measure.allocators);
  for (const CheckSubject& subject : subjects) {
    inputs.push_back({"--baseline", subject.path});
    cut_to_sizes(subject.baseline, scope, subject.path);
  }
  check_outputs(options.exchange.outputs(), inputs);
  options.exchange.check_page();
  return check_each(
      subjects, [&](const CheckSubject& subject) { return check_one(subject, scope, options); },
      [&](std::vector<AllocatorCheck> results) {
        const AllocatorChecks checks = checks_of(std::move(results), options.strict);
        const Palette palette = palette_for(stdout);
        const bool full = options.explain || wants_full_text();
        options.exchange.publish(
            check_outcomes(checks), document_of(check_document(checks)),
            full ? check_text(checks, options.explain, palette) : answer_text(check_answer(checks, palette)));
        if (full && checks.verdict != Verdict::kSame) {
          say_next(options.explain ? accept_command(checks) : explain_command(Subcommand::command_line));
        }
        return checks.passed ? ExitStatus::kDone : ExitStatus::kFinding;
      });
}

}  // namespace zerotax::baseline
