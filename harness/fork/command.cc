#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/size.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "core/document.h"
#include "core/interrupt.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "core/results.h"
#include "fork/document.h"
#include "fork/study.h"
#include "os/environment.h"

namespace zerotax::fork {
namespace {

constexpr const char* kExamples =
    "  zerotax fork\n"
    "  zerotax fork --to 1GiB --rounds 3\n"
    "  zerotax fork --json fork.json && /usr/bin/python3 plots/fork.py fork.json\n"
    "  zerotax fork --read old.json --json fork.json\n";

struct Options {
  std::string to = "8GiB";
  int rounds = kUsualRounds;
  double seconds = 3;
  std::string read;
  std::string json;
};

ForkPlan plan_of(const Options& options) {
  ForkPlan plan;
  plan.most_bytes = parse_size(options.to);
  if (plan.most_bytes < kMiB || plan.most_bytes > 1024 * kGiB) {
    throw UsageError(fmt::format("invalid --to '{}'", options.to), "give 1MiB to 1024GiB");
  }
  if (options.rounds < 1 || options.rounds > 1000) {
    throw UsageError(fmt::format("invalid --rounds {}", options.rounds), "give a number from 1 to 1000");
  }
  if (!(options.seconds >= 0) || options.seconds > 3600) {
    throw UsageError(fmt::format("invalid --seconds {:g}", options.seconds), "give 0 (no sampling) to 3600");
  }
  plan.rounds = static_cast<unsigned>(options.rounds);
  plan.seconds = options.seconds;
  plan.sections = options.seconds > 0;
  return plan;
}

/// What an earlier version wrote, with what this one says of it.
ExitStatus judge_again(const Options& options) {
  check_outputs({{"--json", options.json}}, {{"--read", options.read}});
  Json document = read_document(options.read, "fork", "give a file of zerotax fork --json");
  add_verdict(document);
  if (!options.json.empty()) write_file(options.json, json_text(document));
  if (options.json != "-") fmt::print("{}", fork_text(document));
  return ExitStatus::kDone;
}

ExitStatus fork(const Options& options) {
  if (!options.read.empty()) return judge_again(options);
  const ForkPlan plan = plan_of(options);
  if (!options.json.empty()) check_writable(options.json);
  const std::string started = utc_now();
  const Json environment = describe_environment();
  const ForkData data = study_fork(plan, stop_requested);
  const Json document = fork_json(data, environment, started);
  if (!options.json.empty()) write_file(options.json, json_text(document));
  if (options.json != "-") fmt::print("{}", fork_text(document));
  if (!data.complete) fmt::print(stderr, "zerotax: interrupted: showing only what was finished\n");
  return ExitStatus::kDone;
}

std::function<ExitStatus()> configure(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  add_to(arguments, options->to, "populated memory of the largest process that forks");
  arguments.formerly("--most", "--to");
  add_rounds(arguments, options->rounds, "").with_default();
  arguments
      .option("--seconds", options->seconds,
              "CPU time to sample the kernel for in each process, in seconds (0: no sampling)")
      .shown_as("SECONDS")
      .with_default();
  add_read(arguments, options->read);
  add_json(arguments, options->json);
  return [options] { return fork(*options); };
}

const Subcommand command("fork", "measure what fork costs here, by section of the kernel and by what the process has",
                         kExamples, configure);

}  // namespace
}  // namespace zerotax::fork
