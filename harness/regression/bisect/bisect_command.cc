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
#include "files/output_file.h"
#include "os/environment.h"
#include "os/print.h"
#include "os/utc.h"
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
    "  # A program: what its command costs.\n"
    "  zerotax bisect --repo . --build 'make -j {jobs}' --good v1.0 --bad HEAD \\\n"
    "      --expect 'page_faults <= 2000' -- ./decoder tests/big.bin\n"
    "What else may be expected:\n"
    "  --expect 'free_syscalls.munmap == 0'\n"
    "  --expect 'first.redundant_zeroed_bytes <= 4KiB'\n"
    "  --expect 'thresholds == 3'\n"
    "  --expect 'threshold != 32MiB'\n"
    "  --expect 'redundant-reuse == 0'    no findings of this rule (docs/findings.md)\n"
    "  --expect 'peak_bytes of cc1 <= 64MiB'                  of a command: of its processes cc1\n"
    "  --expect 'refilled_bytes in Decoder::reset == 0'       of a command: of this function\n"
    "Without --expect: a version is bad if any deterministic metric, or a threshold, differs from the good version's, "
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
  std::vector<Argument> of_a_point;  ///< make sense for a metric only
};

Question question_of(const BisectOptions& options, const Commit& good) {
  Question question;
  question.good = good;
  if (!options.common.words.empty()) {
    if (!options.expect.empty()) question.expect_program = ProgramExpectation::parse(options.expect);
    question.grid = options.common.grid();
    return question;
  }
  if (!options.expect.empty()) question.expect = Expectation::parse(options.expect);
  question.grid = options.common.grid();
  if (question.is_of_a_point()) {
    if (question.grid.sizes.size() != 1) {
      throw UsageError(question.grid.sizes.empty() ? "--expect is about one size, and none is given"
                                                   : "--expect is about one size, and several are given",
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
    throw UsageError(option.name() + " is about a metric at one size", "give --expect METRIC, or leave it out");
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
    if (!options.json.empty()) write_file(options.json, json_text(bisect_json(request, found, known)));
    if (!options.report.empty()) {
      if (outcome) {
        write_file(options.report, report_draft(request, found, *outcome));
      } else {
        print_text(stderr, "zerotax: no report: there is no commit to report\n");
      }
    }
    if (options.json != "-" && options.report != "-") {
      print_lines(stdout, bisect_text(request, found, known));
      if (outcome && options.report.empty())
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
    "bisect", Wing::kRegression, "find the commit that changed what an allocator or a program does, by git bisect",
    kBisectExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<BisectOptions>();
      options->common.add(arguments, "with --expect METRIC one",
                          "without --expect: do not search where behaviour changes");
      arguments.find("--repo").required();
      arguments.option("--good", options->good, "a tag, branch or commit that is as expected")
          .shown_as("COMMIT")
          .required()
          .word();
      arguments.option("--bad", options->bad, "a later one that is not; an earlier one to find a fix")
          .shown_as("COMMIT")
          .required()
          .word();
      arguments
          .option(
              "--expect", options->expect,
              "what is true of good versions: a deterministic metric, thresholds or a rule of findings, == != < <= > "
              "or >=, and a value")
          .shown_as("CONDITION")
          .word();
      options->of_a_point = {add_case(arguments, options->case_name, "with --expect METRIC"),
                             add_touch(arguments, options->touch, "with --expect METRIC"),
                             add_thread(arguments, options->thread, "with --expect METRIC")};
      arguments.flag("--first-parent", options->first_parent,
                     "name a merge, and do not search the line that it merged");
      arguments
          .option("--report", options->report,
                  "write the draft of a report to this file (Markdown; - is standard output)")
          .path();
      add_json(arguments, options->json);
      for (Argument& each : options->of_a_point) each.excludes({"--"}, baseline::kOfAllocators);
      return [options] { return bisect_versions(*options); };
    });

}  // namespace
}  // namespace zerotax::bisect
