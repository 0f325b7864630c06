#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "bench/document.h"
#include "bench/run.h"
#include "bench/table.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "os/print.h"
#include "os/utc.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::bench {
namespace {

constexpr const char* kExamples =
    "  zerotax bench -- ./benchmark\n"
    "  zerotax bench -- ./benchmark --benchmark_filter=Decode --benchmark_min_time=0.5\n"
    "  zerotax bench --json bench.json -- ./benchmark\n"
    "Exit status: 1 if a benchmark depends on the order.\n";

struct Options {
  std::int64_t rounds = kUsualPairs;
  double timeout_s = 60;
  std::string json;
};

ExitStatus bench(const Options& options) {
  const std::vector<std::string> words = Subcommand::program_words();
  if (words.empty()) {
    throw UsageError("no command is given", "put it after --, as in zerotax bench -- ./benchmark");
  }
  constexpr std::int64_t kMostRounds = 200;
  if (options.rounds < static_cast<std::int64_t>(fewest_rounds(1)) || options.rounds > kMostRounds) {
    throw UsageError(fmt::format("--rounds {} cannot prove anything", options.rounds),
                     fmt::format("give {} to {}", fewest_rounds(1), kMostRounds));
  }
  check_outputs({{"--json", options.json}}, program_input(words));
  const Suite suite(words, options.timeout_s);
  const std::string started = utc_now();
  Report report = run(suite, {words, static_cast<std::size_t>(options.rounds)});
  report.schema = "zerotax.bench/1";
  report.zerotax_version = ZEROTAX_VERSION;
  report.started = started;
  report.command = Subcommand::command_line;
  report.environment = describe_environment();
  if (!options.json.empty()) write_file(options.json, json_text(bench_json(report)));
  if (options.json != "-") print_lines(stdout, bench_text(report));
  if (!report.complete) say_interrupted("the verdicts are of what was measured so far");
  for (const Benchmark& each : report.benchmarks) {
    if (each.verdict == Verdict::kOrderDependent) return ExitStatus::kFinding;
  }
  return ExitStatus::kDone;
}

const Subcommand command(
    "bench", Wing::kRegression, "find benchmarks whose result depends on what ran before, and the setting that ends it",
    kExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      add_rounds(arguments, options->rounds, "pairs, alone and in order; more for many benchmarks").with_default();
      add_timeout(arguments, options->timeout_s);
      add_json(arguments, options->json);
      return [options] { return bench(*options); };
    });

}  // namespace
}  // namespace zerotax::bench
