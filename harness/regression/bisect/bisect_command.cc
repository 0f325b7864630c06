#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/size.h"
#include "baseline/options.h"
#include "bisect/document.h"
#include "bisect/options.h"
#include "bisect/table.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/print.h"
#include "run/interrupt.h"
#include "run/planning.h"

namespace zerotax::bisect {
namespace {

constexpr const char* kBisectExamples =
    "  zerotax bisect --repo ~/src/mimalloc --recipe mimalloc --good v2.0.9 --bad v2.1.0 --size 20MiB \\\n"
    "      --expect 'zeroed_bytes == 0'\n"
    "  zerotax bisect --repo . --build 'make -j {jobs}' --library libmine.so --good v1.0 --bad HEAD\n"
    "  # A fix: the good version is the newer one.\n"
    "  zerotax bisect --repo ~/src/mimalloc --recipe mimalloc --bad v2.2.6 --good v2.2.7 --size 20MiB \\\n"
    "      --expect 'redundant-fresh == 0'\n"
    "  # An allocator under a recorded program (record --calls).\n"
    "  zerotax bisect --repo ./mine --build make --library libmine.so --good v1 --bad v2 -- workloads/redis.calls\n"
    "  # A program, by the metrics of its command.\n"
    "  zerotax bisect --repo . --build 'make -j {jobs}' --good v1.0 --bad HEAD \\\n"
    "      --expect 'page_faults <= 2000' -- ./decoder tests/big.bin\n"
    "Other expectations:\n"
    "  --expect 'free_syscalls.munmap == 0'\n"
    "  --expect 'first.redundant_zeroed_bytes <= 4KiB'\n"
    "  --expect 'thresholds == 3'\n"
    "  --expect 'threshold != 32MiB'\n"
    "  --expect 'redundant-reuse == 0'    no findings of this rule (docs/findings.md)\n"
    "  --expect 'prove'                   no broken promise in 20 s (docs/prove.md)\n"
    "  --expect 'peak_bytes of cc1 <= 64MiB'                  for a command: processes named cc1\n"
    "  --expect 'refilled_bytes in Decoder::reset == 0'       for a command: this function\n"
    "Without --expect, a version is bad if any deterministic metric, or a threshold, differs from the good version's, "
    "or if the check of a command against the good version fails.\n"
    "Exit status: 0 if the commit was found; 1 if it cannot be decided, because versions do not build.\n";

struct BisectOptions {
  CommonOptions common;
  std::string good;
  std::string bad;
  std::string expect;
  std::string case_name = "calloc_loop";
  double touch = 0;
  std::string thread = kUsualThread;
  bool first_parent = false;
  std::string report;
  std::string json;
  std::vector<Argument> of_a_point;  ///< options that only make sense for a metric
};

Question question_of(const BisectOptions& options, const Commit& good) {
  Question question;
  question.good = good;
  if (!options.common.words.empty()) {
    if (!options.expect.empty()) question.expect_program = ProgramExpectation::parse(options.expect);
    question.grid = options.common.grid();
    if (question.expect_program && question.expect_program->is_of_resident()) question.grid.command->resident = true;
    return question;
  }
  if (!options.expect.empty()) question.expect = Expectation::parse(options.expect);
  question.grid = options.common.grid();
  if (question.is_of_a_point()) {
    if (question.grid.sizes.size() != 1) {
      throw UsageError(question.grid.sizes.empty() ? "--expect applies to one size, but no size is given"
                                                   : "--expect applies to one size, but several sizes are given",
                       "add --size once, as in --size 20MiB");
    }
    question.place = {options.case_name, question.grid.sizes.front(), options.touch,
                      options.thread,    options.common.timeout_s,    0};
    check_axes({{options.case_name}, question.grid.sizes, {options.touch}, {options.thread}});
    question.grid.thresholds = false;
    return question;
  }
  question.place.timeout_s = options.common.timeout_s;
  question.place.last_bytes = question.grid.last_bytes();
  for (const Argument& option : options.of_a_point) {
    if (!option.given()) continue;
    throw UsageError(option.name() + " applies only to a metric at one size",
                     "give --expect METRIC, or leave out the option");
  }
  return question;
}

ExitStatus bisect_versions(BisectOptions options) {
  options.common.take_command();
  const Recipe recipe = options.common.chosen_recipe();
  question_of(options, {});
  check_outputs({{"--json", options.json}, {"--report", options.report}});
  try {
    const Git git(options.common.repository);
    const Repository repository(git);
    const Commit good = repository.commit(options.good, "--good");
    const Commit bad = repository.commit(options.bad, "--bad");
    check_tools(recipe);
    const BisectRequest request{{repository.folder(), recipe, utc_now(), describe_environment()},
                                question_of(options, good)};
    const Cache cache;
    Workspace workspace(&git);
    const Builder builder{cache, recipe, options.common.build_jobs(), options.common.build_timeout_s, false};
    const BisectSetup setup{git, repository, builder, workspace, request.question, options.first_parent};
    const Bisection found = bisect(setup, good, bad);
    std::optional<BisectOutcome> outcome;
    if (found.first) outcome = outcome_of(setup, found);
    const BisectOutcome* const known = outcome ? &*outcome : nullptr;
    if (!options.json.empty()) write_file(options.json, json_text(bisect_document(request, found, known)));
    if (!options.report.empty()) {
      if (outcome) {
        write_file(options.report, report_draft(request, found, *outcome));
      } else {
        print_text(stderr, "zerotax: no report: there is no commit to report\n");
      }
    }
    if (options.json != "-" && options.report != "-") {
      print_lines(stdout, wants_full_text() ? bisect_text(request, found, known)
                                            : answer_text(bisect_answer(request, found, known)));
      if (outcome && options.report.empty() && wants_full_text())
        print_text("\nTo get the draft of a report, add --report FILE (nothing is built again)\n");
    }
    if (!found.complete) {
      say_interrupted("the same command again builds only what is missing");
    }
    return outcome || !found.complete ? ExitStatus::kDone : ExitStatus::kFinding;
  } catch (const Stop&) {
    say_interrupted("the same command again builds only what is missing");
    return ExitStatus::kDone;
  }
}

const Subcommand bisect_command(
    "bisect", Wing::kRegression, "Find the commit that changed an allocator or a program", kBisectExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<BisectOptions>();
      options->common.add(arguments, "with --expect METRIC one", "without --expect, do not search for thresholds");
      arguments.find("--repo").required();
      arguments.option("--good", options->good, "start from this tag, branch or commit, which is as expected")
          .shown_as("COMMIT")
          .required()
          .word();
      arguments
          .option("--bad", options->bad,
                  "end at this later commit, which is not as expected; or at an earlier commit, to find a fix")
          .shown_as("COMMIT")
          .required()
          .word();
      arguments
          .option("--expect", options->expect,
                  "set the condition that good versions meet: a deterministic metric, thresholds or a rule of "
                  "findings, then == != < <= > or >=, and a value; or the word prove")
          .shown_as("CONDITION")
          .word();
      options->of_a_point = {add_case(arguments, options->case_name, "with --expect METRIC"),
                             add_touch(arguments, options->touch, "with --expect METRIC"),
                             add_thread(arguments, options->thread, "with --expect METRIC")};
      arguments.flag("--first-parent", options->first_parent,
                     "stop at a merge, and do not search the branch that was merged");
      arguments
          .option("--report", options->report,
                  "write the draft of a report to this file, in Markdown (- is standard output)")
          .path();
      add_json(arguments, options->json);
      for (Argument& each : options->of_a_point) each.excludes({"--"}, baseline::kOfAllocators);
      return [options] { return bisect_versions(*options); };
    });

}  // namespace
}  // namespace zerotax::bisect
