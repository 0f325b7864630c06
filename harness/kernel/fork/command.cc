#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/size.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/document.h"
#include "files/output_file.h"
#include "fork/result.h"
#include "fork/study.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/print.h"
#include "run/interrupt.h"

namespace zerotax::fork {
namespace {

constexpr const char* kExamples =
    "  zerotax fork                                  the answer in about a minute\n"
    "  zerotax fork --thorough                       processes of up to 8 GiB, narrower intervals: six minutes\n"
    "  zerotax fork --json fork.json && /usr/bin/python3 plots/fork.py fork.json\n"
    "  zerotax fork --read old.json --json fork.json\n";

struct Options {
  bool full = false;
  std::string to = "1GiB";
  int rounds = 3;
  double seconds = 0.5;
  std::string read;
  std::string json;
};

ForkPlan plan_of(const Options& options) {
  ForkPlan plan;
  plan.full = options.full;
  plan.most_bytes = parse_size(options.to);
  plan.rounds = static_cast<unsigned>(options.rounds);
  plan.seconds = options.seconds;
  plan.sections = options.seconds > 0;
  return plan;
}

void write_and_print(const Options& options, const Fork& fork) {
  if (!options.json.empty()) write_file(options.json, json_text(fork_json(fork)));
  if (options.json != "-") {
    print_lines(stdout, wants_full_text() ? fork_text(fork) : answer_text(fork_answer(fork)));
  }
}

/// Shows a file, which an earlier version may have written, with this version's verdict.
ExitStatus judge_again(const Options& options) {
  check_outputs({{"--json", options.json}}, {{"--read", options.read}});
  Fork fork = read_fork(read_document(options.read, "fork", "give a file of zerotax fork --json"), options.read);
  add_verdict(fork);
  write_and_print(options, fork);
  return ExitStatus::kDone;
}

ExitStatus measure(const Options& options) {
  if (!options.read.empty()) return judge_again(options);
  const ForkPlan plan = plan_of(options);
  check_outputs({{"--json", options.json}});
  const std::string started = utc_now();
  const Json environment = describe_environment();
  const ForkData data = study_fork(plan);
  Fork fork = fork_result(data, environment, started);
  add_verdict(fork);
  write_and_print(options, fork);
  if (!data.complete) say_interrupted();
  return ExitStatus::kDone;
}

std::function<ExitStatus()> configure(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.flag("--thorough", options->full,
                 "measure more processes, with the defaults --to 8GiB, --rounds 5 and --seconds 3");
  const Argument to = add_to(arguments, options->to, "set the populated memory of the largest process that forks")
                          .size_in(kMiB, 1024 * kGiB);
  const Argument rounds = add_rounds(arguments, options->rounds, "").in_range(1, 1000).with_default();
  const Argument seconds =
      arguments
          .option("--seconds", options->seconds,
                  "sample the kernel for this much CPU time in each process, in seconds (0: not at all)")
          .in_range(0, 3600, "seconds (0: no sampling)")
          .shown_as("SECONDS")
          .with_default();
  add_read(arguments, options->read);
  add_json(arguments, options->json);
  return [options, to, rounds, seconds] {
    if (options->full && !to.given()) options->to = "8GiB";
    if (options->full && !rounds.given()) options->rounds = kUsualRounds;
    if (options->full && !seconds.given()) options->seconds = 3;
    return measure(*options);
  };
}

const Subcommand command("fork", Wing::kKernel, "Measure the cost of fork on this machine, by part of the kernel",
                         kExamples, configure);

}  // namespace
}  // namespace zerotax::fork
