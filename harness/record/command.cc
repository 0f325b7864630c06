#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

#include "cli/common_options.h"
#include "cli/next_step.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "files/output_paths.h"
#include "observe/flame_graph.h"
#include "os/utc.h"
#include "record/document.h"
#include "record/run.h"
#include "record/site_stacks.h"
#include "run/program_launch.h"

namespace zerotax::record {
namespace {

constexpr const char* kExamples =
    "  zerotax record -- ./service --port 8080\n"
    "  zerotax record --json record.json -- python3 -c 'bytearray(10**8)'\n"
    "  zerotax record --allocator mimalloc -- ./service\n"
    "  zerotax record --svg redundant.svg --folded redundant.folded -- make\n"
    "The exit status is the program's own (128 + N if signal N ended it); 2 if it cannot be recorded.\n";

struct RecordOptions {
  std::string allocator;
  std::vector<std::string> env;
  std::string text;
  std::string json;
  std::string folded;
  std::string svg;
  std::string weight = "redundant";
};

std::vector<std::string> command_words() {
  std::vector<std::string> words = Subcommand::program_words();
  if (words.empty()) {
    throw UsageError("no command is given", "put it after --, as in zerotax record -- ./service --port 8080");
  }
  return words;
}

FlameGraphWords graph_words(const Record& record, StackWeight weight) {
  std::string command = fmt::format("{}", fmt::join(record.command, " "));
  constexpr std::size_t kLongest = 150;
  if (command.size() > kLongest) command = command.substr(0, kLongest) + " ...";
  return {stack_weight_title(weight), command, weight == StackWeight::kTime};
}

/// We exit with the program's status; a status of 0 to 3 is its own unless a line on stderr says otherwise.
ExitStatus run(const RecordOptions& options) {
  const std::vector<std::string> words = command_words();
  const StackWeight weight = parse_stack_weight(options.weight);
  std::vector<NamedPath> inputs = program_input(words);
  for (NamedPath& library : library_inputs({options.allocator})) inputs.push_back(std::move(library));
  check_outputs(
      {{"--text", options.text}, {"--json", options.json}, {"--folded", options.folded}, {"--svg", options.svg}},
      inputs);
  const RecordTarget target = resolve_record_target(words, options.allocator, options.env);
  RecordArena arena;
  const std::string started = utc_now();
  RunWatch watch(arena);
  const ForegroundResult result = run_recorded(target, arena);
  watch.stop();
  const Record record = record_result(target, result, arena, started, &watch);
  if (!options.json.empty()) write_file(options.json, json_text(record_json(record)));
  const FoldedStacks stacks = fold_sites(record.sites, weight);
  if (!options.folded.empty()) write_file(options.folded, folded_text(stacks));
  if (!options.svg.empty()) write_file(options.svg, flame_graph_svg(stacks, graph_words(record, weight)));
  if (options.text.empty()) {
    fmt::print(stderr, "{}", record_text(record));
  } else {
    write_file(options.text, record_text(record));
  }
  say_next(next_step(record));
  return static_cast<ExitStatus>(result.exit_status);
}

const Subcommand command(
    "record", Question::kProgram, "run a program (record [OPTIONS] -- COMMAND ...) and measure what zeroing costs it",
    kExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<RecordOptions>();
      arguments.keep_leftover();
      add_allocator(arguments, options->allocator, "the program's own");
      add_env(arguments, options->env);
      add_text(arguments, options->text, "stderr");
      arguments.formerly("--out", "--text");
      add_json(arguments, options->json);
      arguments.option("--folded", options->folded, "write call stacks with their weights, for flame graph programs")
          .path();
      arguments.option("--svg", options->svg, "draw them as a flame graph").path();
      arguments
          .option("--weight", options->weight,
                  "weight for --folded and --svg: bytes that are redundant, zeroed, kernel (zeroed by the kernel), "
                  "refilled or returned; or ns (of large stores)")
          .shown_as("WEIGHT")
          .completed_by(stack_weight_names)
          .with_default();
      return [options, arguments] {
        arguments.refuse_leftover();
        return run(*options);
      };
    });

}  // namespace
}  // namespace zerotax::record
