#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "advise/advice.h"
#include "advise/remedy.h"
#include "advise/result.h"
#include "base/units.h"
#include "cli/common_options.h"
#include "cli/next_step.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "files/output_paths.h"
#include "os/print.h"
#include "replay/run.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::advise {
namespace {

constexpr const char* kExamples =
    "  zerotax advise -- ./program input.txt\n"
    "  zerotax advise --goal memory --json advise.json -- python3 work.py\n"
    "  zerotax advise --allocator jemalloc --env jemalloc:MALLOC_CONF=narenas:1 -- ./program\n"
    "  zerotax advise --ready 'redis-cli -p 7000 ping' --load 'redis-benchmark -p 7000 -q -n 100000' \\\n"
    "    -- redis-server --port 7000\n"
    "  zerotax advise --settings-only -- ./service.calls     a recording of record --calls, instead\n"
    "The program is run many times, without a terminal; its output is compared, not shown.\n";

struct Options {
  std::vector<std::string> allocators;
  std::vector<std::string> env;
  std::string goal = "cpu";
  std::int64_t rounds = 24;
  double memory = 1.5;
  double timeout = 60;
  std::string input;
  std::string ready;
  std::string load;
  bool ignore_output = false;
  bool settings_only = false;
  bool all = false;
  std::int64_t self_test = 0;
  std::string json;
  std::string markdown;
};

/// Each run reads the input again.
void check_input(const std::string& path) {
  std::error_code failure;
  const char* why = !std::filesystem::exists(path, failure)            ? "there is no such file"
                    : !std::filesystem::is_regular_file(path, failure) ? "it is not a regular file"
                    : ::access(path.c_str(), R_OK) != 0                ? "it cannot be read"
                                                                       : nullptr;
  if (why == nullptr) return;
  throw UsageError(fmt::format("invalid --input '{}': {}", path, why), "give a file that each run can read again");
}

void check_numbers(const Options& options) {
  constexpr std::int64_t kFewestPairs = 10;
  constexpr std::int64_t kMostPairs = 200;
  if (options.rounds < kFewestPairs || options.rounds > kMostPairs) {
    throw UsageError(fmt::format("invalid --rounds {}", options.rounds),
                     fmt::format("give {} to {}: fewer pairs of runs prove nothing", kFewestPairs, kMostPairs));
  }
  if (!(options.memory >= 1) || options.memory > 1e6) {
    throw UsageError(fmt::format("invalid --memory {:g}", options.memory), "give a ratio of 1 or more");
  }
  if (options.self_test < 0 || options.self_test > 10'000) {
    throw UsageError(fmt::format("invalid --self-test {}", options.self_test), "give 1 to 10000");
  }
  if (options.load.empty() != options.ready.empty()) {
    throw UsageError("--ready and --load belong together",
                     "give both: when the server can be used, and the work that it is to do");
  }
}

Request request_of(const Options& options) {
  const std::vector<std::string> words = Subcommand::program_words();
  if (words.empty()) {
    throw UsageError("no command is given", "put it after --, as in zerotax advise -- ./program input.txt");
  }
  check_numbers(options);
  Request request;
  request.method.goal = parse_goal(options.goal);
  request.method.most_pairs = static_cast<unsigned>(options.rounds);
  request.method.memory_ratio = options.memory;
  request.allocators = options.allocators;
  request.env = options.env;
  request.settings_only = options.settings_only;
  if (options.settings_only && !options.allocators.empty()) {
    throw UsageError("--settings-only tries no other allocator", "leave it out, or --allocator");
  }
  request.all = options.all;
  Target& target = request.target;
  target.words = words;
  target.program = resolve_program(words.front());
  check_takes_preload(target.program, "be advised on");
  target.input = options.input.empty() ? "/dev/null" : options.input;
  if (!options.input.empty()) check_input(options.input);
  target.ready = options.ready;
  target.load = options.load;
  target.timeout_s = options.timeout;
  target.ignore_output = options.ignore_output;
  std::vector<NamedPath> inputs = program_input(words);
  for (NamedPath& library : library_inputs(options.allocators)) inputs.push_back(std::move(library));
  if (!options.input.empty()) inputs.push_back({"--input", options.input});
  check_outputs({{"--json", options.json}, {"--markdown", options.markdown}}, inputs);
  return request;
}

ExitStatus test(const Request& request, const Options& options) {
  if (!options.markdown.empty()) throw UsageError("--self-test writes no Markdown", "leave out --markdown");
  const SelfTest test = self_test(request, static_cast<std::size_t>(options.self_test));
  if (!options.json.empty()) write_file(options.json, json_text(self_test_json(test)));
  if (options.json == "-") return test.recommended == 0 ? ExitStatus::kDone : ExitStatus::kFinding;
  print_text("{} of {} without effect recommended one.\n", test.recommended, format_counted(test.advices, "advice"));
  if (stop_requested()) say_interrupted("counting only what was finished");
  return test.recommended == 0 ? ExitStatus::kDone : ExitStatus::kFinding;
}

ExitStatus run(const Options& options) {
  const Request request = request_of(options);
  const std::string prediction = replay::checked_prediction(request.target.words.front());
  if (!prediction.empty()) print_text(stderr, "{}\n", prediction);
  if (options.self_test > 0) return test(request, options);
  const Advice advice = advise(request);
  const AdviceResult result = advice_result(advice);
  if (!options.json.empty()) write_file(options.json, json_text(advise_json(result)));
  if (!options.markdown.empty()) write_file(options.markdown, advise_markdown(result));
  if (options.json != "-" && options.markdown != "-") print_lines(stdout, advise_text(result));
  say_next(next_step(result));
  if (!advice.complete) say_interrupted("this is what was known");
  return ExitStatus::kDone;
}

std::function<ExitStatus()> configure(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.keep_leftover();
  add_allocators(arguments, options->allocators);
  add_env(arguments, options->env, "tried, too; NAME may be the program's own");
  arguments.option("--goal", options->goal, "what is to become less: cpu, wall, faults or memory")
      .shown_as("GOAL")
      .completed_by(goal_names)
      .with_default();
  arguments
      .option("--memory", options->memory,
              "most peak memory that a remedy may take, as a ratio to the unchanged program's")
      .shown_as("RATIO")
      .with_default();
  add_rounds(arguments, options->rounds, "at most; pairs, to confirm a remedy").with_default();
  arguments.formerly("--runs", "--rounds");
  add_timeout(arguments, options->timeout);
  arguments.option("--input", options->input, "standard input of the program (default: /dev/null)").path();
  arguments.flag("--ignore-output", options->ignore_output, "the program may print something else in each run");
  arguments.option("--ready", options->ready, "of a server: a shell command, tried until it succeeds")
      .shown_as("COMMAND")
      .word();
  arguments
      .option(
          "--load", options->load,
          "of a server: the work, a shell command; its wall time and the server's CPU time count. Then the server is "
          "ended by SIGTERM")
      .shown_as("COMMAND")
      .word();
  arguments.flag("--settings-only", options->settings_only, "leave the program its own allocator");
  arguments.flag("--all", options->all, "try everything, whatever the recording says");
  arguments
      .option("--self-test", options->self_test,
              "instead: search N times where no remedy has any effect, and count how often one is recommended")
      .shown_as("N");
  add_json(arguments, options->json);
  arguments.option("--markdown", options->markdown, "write the advice as Markdown to this file (- is standard output)")
      .path();
  return [options, arguments] {
    arguments.refuse_leftover();
    return run(*options);
  };
}

const Subcommand command("advise", Wing::kProgram,
                         "try what could make a program's zeroing cheaper, and prove which remedy helps", kExamples,
                         configure);

}  // namespace
}  // namespace zerotax::advise
