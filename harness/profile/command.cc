#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/size.h"
#include "base/units.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "core/program_launch.h"
#include "core/results.h"
#include "observe/flame_graph.h"
#include "os/environment.h"
#include "profile/document.h"
#include "profile/run.h"

namespace zerotax::profile {
namespace {

constexpr const char* kExamples =
    "  zerotax profile --allocator largecache --size 100MiB\n"
    "  zerotax profile --allocator glibc --size 20MiB --touch 1 --seconds 5 --folded stacks.txt\n"
    "  zerotax profile -- python3 -c 'for i in range(50): bytearray(10**8)'\n"
    "  zerotax profile --allocator mimalloc --json profile.json -- ./service\n"
    "With a command, the exit status is the program's own (128 + N if signal N ended it).\n";

struct Options {
  std::string allocator;
  std::vector<std::string> env;
  std::string case_name = "calloc_loop";
  std::string size = "100MiB";
  double touch = 0;
  std::string thread = "main";
  double seconds = 2;
  unsigned hz = 997;
  double least = 1;
  std::string out;
  std::string json;
  std::string folded;
  std::string svg;
  std::vector<Argument> of_case;
};

void check(const Options& options, const std::vector<std::string>& words) {
  if (options.hz < 1 || options.hz > 20'000) {
    throw UsageError(fmt::format("invalid --hz {}", options.hz), "give 1 to 20000 samples a second");
  }
  if (!(options.seconds > 0) || options.seconds > 3600) {
    throw UsageError(fmt::format("invalid --seconds {:g}", options.seconds), "give more than 0, at most 3600");
  }
  if (!(options.least >= 0) || options.least > 100) {
    throw UsageError(fmt::format("invalid --least {:g}", options.least), "give a percentage, 0 to 100");
  }
  std::vector<NamedPath> inputs = program_input(words);
  for (NamedPath& library : library_inputs({options.allocator})) inputs.push_back(std::move(library));
  check_outputs(
      {{"--out", options.out}, {"--json", options.json}, {"--folded", options.folded}, {"--svg", options.svg}}, inputs);
}

ProfiledRun profile_program(const Options& options, const std::vector<std::string>& words, ProfileSubject& subject) {
  for (const Argument& option : options.of_case) {
    if (!option.given()) continue;
    throw UsageError(fmt::format("{} applies only to a case, but a command is given", option.name()),
                     "leave one of them out");
  }
  subject.command = words;
  return profile_command(words, resolve_program_allocator(options.allocator, options.env), options.hz);
}

ProfiledRun profile_case(const Options& options, ProfileSubject& subject) {
  const std::uint64_t size = parse_size(options.size);
  check_axes({{options.case_name}, {size}, {options.touch}, {options.thread}});
  const std::string name = options.allocator.empty() ? "glibc" : options.allocator;
  const Allocator allocator = resolve_allocators({name}, options.env).front();
  subject.command = {options.case_name, allocator.name, format_size(size), fmt::format("touch {:g}", options.touch),
                     options.thread};
  const PointSpec point{0, options.case_name, size, options.touch, options.thread, {}};
  return profile_point(allocator, point, options.seconds, options.hz);
}

std::string flame_graph(const ProfileSubject& subject, const ProfileData& data) {
  const FlameGraphWords words{fmt::format("{}", fmt::join(subject.command, " ")), "CPU time by sampling", true};
  return flame_graph_svg(folded_stacks(data, 1'000'000'000 / subject.hz), words);
}

ExitStatus profile(const Options& options) {
  const std::vector<std::string> words = Subcommand::program_words();
  check(options, words);
  ProfileSubject subject;
  subject.hz = options.hz;
  subject.started = utc_now();
  const ProfiledRun run = words.empty() ? profile_case(options, subject) : profile_program(options, words, subject);
  subject.wall_s = run.wall_s;
  subject.user_s = run.user_s;
  subject.system_s = run.system_s;
  subject.exit_status = run.exit_status;
  const Json json = profile_json(subject, run.data, describe_environment());
  if (!options.json.empty()) write_file(options.json, json_text(json));
  if (!options.folded.empty()) write_file(options.folded, folded_text(folded_stacks(run.data)));
  if (!options.svg.empty()) write_file(options.svg, flame_graph(subject, run.data));
  const std::string text = profile_text(json, 80, options.least / 100);
  if (!options.out.empty()) {
    write_file(options.out, text);
  } else if (words.empty()) {
    if (options.json != "-" && options.folded != "-") fmt::print("{}", text);
  } else {
    fmt::print(stderr, "{}", text);  // standard output is the program's
  }
  return static_cast<ExitStatus>(run.exit_status);
}

std::function<ExitStatus()> configure(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("--allocator", options->allocator,
                   "NAME of a built-in allocator, or NAME=PATH of any malloc replacement (default: glibc for a case, a "
                   "command's own)");
  arguments.option("--env", options->env, "NAME:KEY=VALUE, a variable for that allocator").repeatable();
  options->of_case = {
      arguments.option("--case", options->case_name, "case to run when no command is given").with_default(),
      arguments.option("--size", options->size, "bytes to request from calloc").with_default(),
      arguments.option("--touch", options->touch, "fraction of the pages written, 0 to 1").with_default(),
      arguments.option("--thread", options->thread, "main or worker: the thread that allocates").with_default(),
      arguments.option("--seconds", options->seconds, "seconds to repeat the case for").with_default(),
  };
  arguments.option("--hz", options->hz, "samples per second of CPU time").with_default();
  arguments.option("--least", options->least, "leave out branches of the call tree below this percentage")
      .with_default();
  arguments
      .option("--out", options->out,
              "write the summary to this file (default: stdout for a case, stderr for a command)")
      .path();
  arguments.option("--json", options->json, "write everything to this file (- is standard output)").path();
  arguments.option("--folded", options->folded, "write the stacks as flame graph tools read them").path();
  arguments.option("--svg", options->svg, "draw a flame graph of CPU time to this file").path();
  return [options] { return profile(*options); };
}

const Subcommand command("profile", "sample a case or a program (profile -- COMMAND ...) to see where its time goes",
                         kExamples, configure);

}  // namespace
}  // namespace zerotax::profile
