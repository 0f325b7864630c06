#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "advise/advice.h"
#include "advise/loads.h"
#include "advise/remedy.h"
#include "advise/result.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/document.h"
#include "files/output_file.h"
#include "os/print.h"
#include "replay/run.h"
#include "run/figures.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::advise {
namespace {

constexpr const char* kExamples =
    "  zerotax advise -- ./program input.txt\n"
    "  zerotax advise --goal memory --json advise.json -- python3 work.py\n"
    "  zerotax advise --goal shared -- python3 prefork.py\n"
    "  zerotax advise --allocator jemalloc --env jemalloc:MALLOC_CONF=narenas:1 -- ./program\n"
    "  zerotax advise --ready 'redis-cli -p 7000 ping' --load 'redis-benchmark -p 7000 -q -n 100000' \\\n"
    "    -- redis-server --port 7000\n"
    "  zerotax advise --frontier --goal idle -- ./service.calls     replays of record --calls, instead\n"
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
  std::vector<std::string> load;
  bool ignore_output = false;
  bool settings_only = false;
  bool all = false;
  bool frontier = false;
  bool has_goal = false;
  std::string max_memory;
  bool plot = false;
  std::string svg;
  std::string read;
  std::string json;
  std::string markdown;
};

const Refusal kServer{"--ready and --load belong together",
                      "give both: a command that succeeds once the server can be used, and a command that gives the "
                      "server work"};

/// Refuses an input file that the runs cannot each read from the beginning.
void check_input(const std::string& path) {
  std::error_code failure;
  const char* why = !std::filesystem::exists(path, failure)            ? "there is no such file"
                    : !std::filesystem::is_regular_file(path, failure) ? "it is not a regular file"
                    : ::access(path.c_str(), R_OK) != 0                ? "it cannot be read"
                                                                       : nullptr;
  if (why == nullptr) return;
  throw UsageError(fmt::format("invalid --input '{}': {}", path, why), "give a file that each run can read again");
}

/// Refuses options for which a replay of a recording has no answer.
void check_replay(const Options& options, const std::string& recording) {
  if (!options.load.empty() || !options.input.empty()) {
    throw UsageError(fmt::format("{} is a recording, whose replay takes no load and no input", recording),
                     "leave out --ready, --load and --input");
  }
  if (parse_goal(options.goal) == Goal::kShared) {
    throw UsageError(fmt::format("{} is a recording, whose replay does not share the program's memory", recording),
                     "give the program itself after --");
  }
  const std::size_t processes = replay::recorded_processes(recording);
  if (processes < 2 || (!options.frontier && !is_memory(parse_goal(options.goal)))) return;
  throw UsageError(
      fmt::format("the memory that the {} processes of {} held together is unknown: a parent waits for each child in "
                  "a replay",
                  processes, recording),
      "give the program itself after --, or --goal cpu without --frontier");
}

Request request_of(const Options& options) {
  const std::vector<std::string> words = Subcommand::program_words();
  Request request;
  request.method.goal = parse_goal(options.goal);
  request.method.most_pairs = static_cast<unsigned>(options.rounds);
  request.method.memory_ratio = options.memory;
  request.allocators = options.allocators;
  request.env = options.env;
  request.settings_only = options.settings_only;
  request.all = options.all;
  request.frontier = options.frontier;
  request.max_memory = options.max_memory;
  if (options.frontier && options.load.size() > 1) {
    throw UsageError("--frontier searches under one --load", "leave out all --load but one");
  }
  if (options.frontier && request.method.goal == Goal::kShared) {
    throw UsageError("--frontier has no values for --goal shared", "leave out --frontier");
  }
  if (options.has_goal) request.wanted = request.method.goal;
  Target& target = request.target;
  target.words = words;
  if (is_recording(words.front())) {
    check_replay(options, words.front());
    target.replay = true;
  }
  target.program = resolve_program(words.front());
  check_takes_preload(target.program, "be advised on");
  target.input = options.input.empty() ? "/dev/null" : options.input;
  if (!options.input.empty()) check_input(options.input);
  target.ready = options.ready;
  target.timeout_s = options.timeout;
  target.ignore_output = options.ignore_output;
  target.idle = options.frontier || is_memory(request.method.goal);
  target.copies = request.method.goal == Goal::kShared;
  std::vector<NamedPath> inputs = program_input(words);
  for (NamedPath& library : library_inputs(options.allocators)) inputs.push_back(std::move(library));
  if (!options.input.empty()) inputs.push_back({"--input", options.input});
  check_outputs({{"--json", options.json}, {"--markdown", options.markdown}, {"--svg", options.svg}}, inputs);
  return request;
}

void show(const Options& options, const AdviceResult& result) {
  if (!options.json.empty()) write_file(options.json, json_text(advise_json(result)));
  if (!options.markdown.empty()) write_file(options.markdown, advise_markdown(result));
  if (!options.svg.empty()) {
    try {
      write_file(options.svg, draw_svg("frontier", json_text(advise_json(result))));
    } catch (const MachineError& failure) {
      print_text(stderr, "zerotax: no figure: {}: {}\n", failure.what(), failure.remedy());
    }
  }
  if (options.json == "-" || options.markdown == "-") return;
  print_lines(stdout, wants_full_text() ? advise_text(result) : answer_text(advise_answer(result)));
  if (options.plot) print_lines(stdout, frontier_plot(result, plot_style()));
}

/// Shows a file of --json. The file has no call sites.
ExitStatus show_again(const Options& options) {
  check_outputs({{"--json", options.json}, {"--markdown", options.markdown}, {"--svg", options.svg}},
                {{"--read", options.read}});
  show(options, read_advise(read_document(options.read, "advise", "give a file of zerotax advise --json")));
  return ExitStatus::kDone;
}

ExitStatus run(const Options& options) {
  if (!options.read.empty()) return show_again(options);
  const Request request = request_of(options);
  const std::string prediction = replay::checked_prediction(request.target.words.front());
  if (!prediction.empty()) print_text(stderr, "{}\n", prediction);
  const AdviceResult result = advise_under(request, options.load);
  show(options, result);
  if (!result.complete) say_interrupted("the advice has the results so far");
  return ExitStatus::kDone;
}

/// Adds the options of a server.
void add_server(Arguments& arguments, Options& options) {
  arguments.option("--ready", options.ready, "start a server, and repeat this shell command until it succeeds")
      .needs({"--load"}, kServer)
      .shown_as("COMMAND")
      .word();
  arguments
      .option("--load", options.load,
              "measure a server while this shell command runs: the command's wall time and the server's CPU time;"
              " SIGTERM then ends the server. If the option is repeated, all remedies are tried under each load, and "
              "the recommended remedy must do no harm under any load")
      .needs({"--ready"}, kServer)
      .shown_as("COMMAND")
      .repeatable();
}

/// Adds the options of a search for the frontier.
void add_frontier(Arguments& arguments, Options& options) {
  arguments
      .flag(
          "--frontier", options.frontier,
          "report what each value of the allocator's settings gains, and what it costs in memory. The search takes at "
          "most 330 times the program's time, or a minute")
      .excludes({"--all"});
  arguments
      .option("--max-memory", options.max_memory,
              "accept settings that take at most this much more memory, at the peak and at idle: +10% of the peak, or"
              " +64MiB")
      .checked_by([](const std::string& word) { extra_bytes(word, 1); })
      .needs({"--frontier"})
      .excludes({"--memory"})
      .shown_as("MEMORY");
  add_plot_option(arguments, options.plot, "CPU time over memory of the settings").needs({"--frontier", "--read"});
  arguments.option("--svg", options.svg, "draw the settings of --frontier to this file")
      .path()
      .needs({"--frontier", "--read"});
}

std::function<ExitStatus()> configure(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.exactly_one({"--read", "--"},
                        {"no command is given", "give a command after --, as in zerotax advise -- ./program"});
  add_allocators(arguments, options->allocators);
  add_env(arguments, options->env, "tried as a remedy; NAME may be the program's own allocator");
  const Argument goal = arguments
                            .option("--goal", options->goal,
                                    "select the metric to reduce: cpu, wall, faults, memory (peak), idle (memory) or "
                                    "shared (memory copied after forks)")
                            .shown_as("GOAL")
                            .completed_by(goal_names)
                            .with_default();
  arguments
      .option("--memory", options->memory,
              "reject remedies that take more than this ratio of the unchanged program's peak memory")
      .in_range(1, 1e6)
      .shown_as("RATIO")
      .with_default();
  add_rounds(arguments, options->rounds, "at most; pairs, to confirm a remedy")
      .in_range(10, 200, "pairs of runs: fewer prove nothing")
      .with_default();
  add_timeout(arguments, options->timeout);
  arguments.option("--input", options->input, "read the program's standard input from this file (default: /dev/null)")
      .path();
  arguments.flag("--ignore-output", options->ignore_output, "accept output that differs from run to run");
  add_server(arguments, *options);
  arguments.flag("--settings-only", options->settings_only, "try settings only, not other allocators")
      .excludes({"--allocator"}, {"{0} tries no other allocator", "leave out {0} or {1}"});
  add_frontier(arguments, *options);
  arguments.flag("--all", options->all, "try all remedies, including those that the recording makes unlikely to help");
  add_read(arguments, options->read);
  add_json(arguments, options->json);
  arguments.option("--markdown", options->markdown, "write the advice as Markdown to this file (- is standard output)")
      .path();
  return [options, goal] {
    options->has_goal = goal.given();
    return run(*options);
  };
}

const Subcommand command("advise", Wing::kProgram, "Try remedies on a program and prove which remedy helps", kExamples,
                         configure);

}  // namespace
}  // namespace zerotax::advise
