#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/lines.h"
#include "base/nearest.h"
#include "base/shell.h"
#include "base/units.h"
#include "cli/common_options.h"
#include "cli/exchange_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "exchange/outcome.h"
#include "files/output_file.h"
#include "files/stored_run.h"
#include "findings/findings.h"
#include "findings/summary.h"
#include "judge/projects.h"
#include "judge/rule.h"
#include "os/print.h"
#include "point/typed_point.h"
#include "run/fleet/hosts.h"

namespace zerotax::findings {
namespace {

using exchange::Benchmark;
using exchange::Outcome;
using exchange::OutcomeKind;
using exchange::OutcomeList;

std::string details_of(const AllocatorFindings& one, const Finding& finding) {
  std::string text = wrap(finding.sentence, "", "");
  for (const EvidencePoint& point : finding.evidence) {
    text += fmt::format("{} {} touch {:g} {}: {}\n", point.case_name, format_size(point.size_bytes), point.touch,
                        point.thread, metrics_text(point.metrics));
  }
  return text + wrap(remedies_sentence(remedies_of(one, finding)), "", "");
}

/// Returns whether the finding is a broken promise or a point that did not end, rather than a cost.
bool is_broken(const Finding& finding) {
  return finding.rule == "unfinished" || finding.rule == "not-zero" || finding.rule == "misaligned";
}

Outcome outcome_of(const AllocatorFindings& one, const Finding& finding) {
  Outcome outcome;
  outcome.suite = one.name() + one.settings();
  outcome.name = finding_id(one.allocator, finding);
  outcome.test = finding.rule;
  outcome.kind = is_broken(finding) ? OutcomeKind::kFailed : OutcomeKind::kWorse;
  outcome.fails = true;
  outcome.verdict = severity_word(finding.severity);
  outcome.headline = finding.title;
  outcome.details = details_of(one, finding);
  return outcome;
}

/// Returns the number of findings, even if 0, so that a service notices when findings disappear.
Benchmark counts_of(const AllocatorFindings& one) {
  Benchmark benchmark{one.allocator + one.settings(), {{"findings", static_cast<double>(one.findings.size())}}};
  for (const Severity severity : kSeverities) {
    benchmark.measures.push_back({"findings-" + severity_word(severity), static_cast<double>(one.count(severity))});
  }
  return benchmark;
}

/// Returns notes for the findings: the number of points without a result. These points trigger no rule, but may still
/// have a problem.
std::vector<std::string> findings_notes(const std::vector<Point>& points) {
  const auto without =
      std::count_if(points.begin(), points.end(), [](const Point& point) { return !has_result(point); });
  if (without == 0) return {};
  return {fmt::format("{} of {} points have no result and were left out.", without, points.size())};
}

/// Returns outcomes for the formats of other programs: one for each finding, and one for each rule that found nothing
/// in an allocator. Bencher's format gets the numbers of findings. `run` is the source of the points.
OutcomeList findings_outcomes(const std::vector<AllocatorFindings>& all, const std::string& run,
                              std::vector<std::string> notes) {
  OutcomeList list;
  list.command = "zerotax findings";
  list.subject = run;
  list.sentence = findings_count(all);
  list.thing = "finding";
  list.notes = std::move(notes);
  for (const AllocatorFindings& one : all) {
    list.benchmarks.push_back(counts_of(one));
    std::set<std::string> rules;
    for (const Finding& finding : one.findings) {
      rules.insert(finding.rule);
      list.outcomes.push_back(outcome_of(one, finding));
      if (list.kind != OutcomeKind::kFailed) list.kind = list.outcomes.back().kind;
    }
    for (const FindingRule* rule : FindingRule::all()) {
      if (rules.contains(rule->name())) continue;
      Outcome passed;
      passed.suite = one.name() + one.settings();
      passed.name = rule->name();
      passed.verdict = "none";
      passed.headline = rule->meaning();
      list.outcomes.push_back(std::move(passed));
    }
  }
  return list;
}

constexpr const char* kExamples =
    "  zerotax findings results/2026-11-20T05-10-00Z\n"
    "  zerotax findings results/2026-11-20T05-10-00Z --allocator mimalloc\n"
    "  zerotax findings results/2026-11-20T05-10-00Z --summary\n"
    "  zerotax run --allocator mine=./libmine.so --size 20MiB --json mine.json; zerotax findings mine.json\n"
    "  zerotax findings mine.json --junit findings.xml --markdown findings.md --github\n"
    "Exit status: 1 if there are findings; with --summary 0.\n";

struct Options {
  std::string run;
  std::vector<std::string> allocators;
  bool summary = false;
  ExchangeOptions exchange;
};

/// Keeps only the named allocators. Throws UsageError for an allocator that the run does not contain.
void keep_only(const std::vector<std::string>& names, std::vector<AllocatorFindings>& all) {
  if (names.empty()) return;
  for (const std::string& name : names) {
    if (std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.allocator == name; })) continue;
    std::vector<std::string> there;
    there.reserve(all.size());
    for (const auto& one : all) there.push_back(one.allocator);
    const std::string problem = fmt::format("the run does not contain '{}'", name);
    if (there.empty()) throw UsageError(problem, "the run has no points");
    refuse_word(problem, name, there);
  }
  std::erase_if(all,
                [&](const auto& one) { return std::find(names.begin(), names.end(), one.allocator) == names.end(); });
}

Answer list_after(Answer answer, const std::string& run) {
  answer.steps.push_back({shell_text({"zerotax", "findings", run}),
                          answer.steps.empty() ? "list all findings:" : "or list all findings:"});
  return answer;
}

/// Prints the summary. The output may overwrite the summary of a study, but no measurements.
ExitStatus summarise(const Options& options, const StoredRun& run) {
  const std::string head = std::filesystem::is_directory(options.run) ? options.run + "/run.json" : options.run;
  const Summary summary = summary_of(run.points, read_summary_run(read_json_file(head)));
  const std::string json = options.exchange.outputs().front().path;
  if (!json.empty()) write_file(json, json_text(summary_json(summary)));
  if (json != "-") {
    print_lines(stdout, wants_full_text() ? summary_text(summary)
                                          : answer_text(list_after(summary_answer(summary), options.run)));
  }
  return ExitStatus::kDone;
}

ExitStatus findings(const Options& options) {
  StoredRun run = read_stored_run(options.run);
  std::vector<NamedPath> inputs;
  for (const std::string& file : run.files) inputs.push_back({"the results folder or file to read", file});
  check_outputs(options.exchange.outputs(), inputs);
  if (options.summary) return summarise(options, run);
  const std::size_t untimed = fleet::leave_out_times(run.comparable_times, run.points);
  std::vector<AllocatorFindings> all = find_findings(run.points, run.thresholds, {run.edges, run.controls});
  keep_only(options.allocators, all);
  std::vector<std::string> notes = findings_notes(run.points);
  if (std::string left_out = fleet::left_out_text(run.comparable_times, untimed); !left_out.empty()) {
    notes.push_back(std::move(left_out));
  }
  const exchange::OutcomeList outcomes = findings_outcomes(all, options.run, notes);
  options.exchange.write(outcomes, findings_json(all, options.run));
  const bool is_full = wants_full_text();
  if (!options.exchange.silent() && is_full) {
    print_lines(stdout, findings_text(all, palette_for(stdout)));
    for (const std::string& note : notes) print_text("\n{}\n", note);
  } else if (!options.exchange.silent()) {
    print_lines(stdout, answer_text(findings_answer(all, run.points, options.run, notes, palette_for(stdout))));
  }
  options.exchange.print_annotations(outcomes);
  if (is_full || options.exchange.silent()) say_next(next_step(all, run.points));
  return number_of(all) == 0 ? ExitStatus::kDone : ExitStatus::kFinding;
}

const Subcommand command(
    "findings", Wing::kAllocator, "Show the findings in a results folder with evidence, or as a summary", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      arguments.option("run", options->run, "a results folder, or a file of zerotax run --json").required().path();
      add_allocators(arguments, options->allocators, "all allocators of the run");
      options->exchange.add(arguments);
      arguments
          .flag("--summary", options->summary,
                "show a summary instead: allocators that zero needlessly, the sizes, and the cost; --json writes the "
                "summary")
          .excludes({"--allocator", "--junit", "--markdown", "--github"},
                    {"{1} is for findings, not for their summary", "leave out {1} or {0}"});
      return [options] { return findings(*options); };
    });

}  // namespace

}  // namespace zerotax::findings
