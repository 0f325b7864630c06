// Measures how often advice recommends a remedy that has no effect. In each search, every candidate is the unchanged
// program. docs/advise.md promises at most 0.5 %.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "advise/result.h"
#include "cli/arguments.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "os/elf_file.h"
#include "os/environment.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/program_launch.h"
#include "self_test.h"

namespace {

using namespace zerotax;

struct Options {
  std::vector<std::string> command;
  std::int64_t advices = 100;
  std::int64_t rounds = 24;
  std::string json;
  bool smoke = false;
};

/// Returns the candidates of a search under glibc.
std::vector<advise::Candidate> usual_candidates(const Json& environment) {
  const advise::Recording recording{NotAvailable{"the program was not recorded"}};
  const bool huge_pages = text_field(environment, "thp", "never") != "never";
  const advise::Situation situation{{"glibc", "", "", {}}, &recording, true, huge_pages, {}};
  return advise::candidates_of(make_catalogue(situation, advise::allocators_to_try({}).allocators, {}).remedies);
}

advise::SelfTest self_test(const advise::Request& request, std::size_t advices) {
  advise::SelfTest test;
  test.schema = "zerotax.advise_self_test/1";
  test.zerotax_version = ZEROTAX_VERSION;
  test.command = Subcommand::command_line;
  test.goal = request.method.goal;
  test.started = utc_now();
  test.environment = describe_environment();
  advise::TargetRunner runner(request.target);
  const std::vector<advise::Candidate> candidates = usual_candidates(test.environment);
  advise::SearchMethod method = request.method;
  std::unique_ptr<Experiment> part;
  const auto start_part = [&](const std::string& what, std::size_t runs) {
    part = std::make_unique<Experiment>(what);
    part->expect(runs, static_cast<double>(runs));
  };
  const auto run = [&](std::size_t) {
    advise::Trial trial;
    Item item;
    item.label = "the program as it is";
    item.measure = [&](const Say&) { trial = runner.run_present(); };
    if (!part->run({item})) trial.end = advise::Trial::End::kStopped;
    return trial;
  };
  while (test.advices < advices && !stop_requested()) {
    const advise::SearchResult result = search_remedies(candidates, method, run, start_part);
    for (const advise::SearchRun& each : result.runs) test.runs.push_back(each.trial.figures);
    if (!result.complete) break;
    ++test.advices;
    ++method.seed;
    if (result.winner) ++test.recommended;
  }
  return test;
}

int run(const Options& options) {
  advise::Request request;
  request.target.words = options.command.empty() ? std::vector<std::string>{"/bin/echo", "hello"} : options.command;
  request.target.program = resolve_program(request.target.words.front());
  request.target.input = "/dev/null";
  request.method.most_pairs = static_cast<unsigned>(options.smoke ? 12 : options.rounds);
  const advise::SelfTest test = self_test(request, options.smoke ? 1 : static_cast<std::size_t>(options.advices));
  if (!options.json.empty()) write_file(options.json, json_text(test));
  fmt::print("{} of {} searches recommended a remedy that has no effect\n", test.recommended, test.advices);
  return test.recommended == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Subcommand::command_line.assign(argv, argv + argc);
  const auto add = [&](Arguments arguments) {
    arguments.option("command", options.command, "the program and its arguments (default: /bin/echo hello)");
    arguments.option("--advices", options.advices, "number of searches").in_range(1, 10'000).with_default();
    arguments.option("--rounds", options.rounds, "maximum number of pairs of runs to confirm a remedy")
        .in_range(10, 200)
        .with_default();
    arguments.option("--json", options.json, "write the numbers to this file").path();
    arguments.flag("--smoke", options.smoke, "only check that the benchmark runs, with one search of few pairs");
  };
  const auto start = [&] {
    catch_interrupts();
    return run(options);
  };
  return standalone_main("benchmark-advise-alarms", "measure how often advice recommends a remedy without effect", argc,
                         argv, add, start);
}
