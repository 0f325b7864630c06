// Measures how often advice recommends a remedy that has no effect. In each search, every remedy is the unchanged
// program. docs/advise.md promises at most 0.5 %.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "advise/result.h"
#include "cli/standalone.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "os/elf_file.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace {

using namespace zerotax;

struct Options {
  std::vector<std::string> command;
  std::int64_t advices = 100;
  std::int64_t rounds = 24;
  std::string json;
  bool smoke = false;
};

int run(const Options& options) {
  advise::Request request;
  request.target.words = options.command.empty() ? std::vector<std::string>{"/bin/echo", "hello"} : options.command;
  request.target.program = resolve_program(request.target.words.front());
  request.target.input = "/dev/null";
  request.method.most_pairs = static_cast<unsigned>(options.smoke ? 12 : options.rounds);
  const advise::SelfTest test =
      advise::self_test(request, options.smoke ? 1 : static_cast<std::size_t>(options.advices));
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
    arguments.option("--rounds", options.rounds, "pairs of runs to confirm a remedy, at most")
        .in_range(10, 200)
        .with_default();
    arguments.option("--json", options.json, "write the numbers to this file").path();
    arguments.flag("--smoke", options.smoke, "one search with few pairs: only to see that it works");
  };
  const auto start = [&] {
    catch_interrupts();
    return run(options);
  };
  return standalone_main("benchmark-advise-alarms", "how often advice recommends a remedy without effect", argc, argv,
                         add, start);
}
