#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "analyze/flame_graph.h"
#include "analyze/profile_report.h"
#include "base/size.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "drive/output_file.h"
#include "drive/output_paths.h"
#include "drive/profile_run.h"
#include "drive/program_launch.h"
#include "drive/results.h"
#include "os/environment.h"

namespace zerotax {
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
  std::vector<const CLI::Option*> of_case;
};

void check(const Options& options, const std::vector<std::string>& words) {
  if (options.hz < 1 || options.hz > 20'000) {
    throw UsageError(fmt::format("--hz {} is no usable rate", options.hz), "give 1 to 20000 samples a second");
  }
  if (!(options.seconds > 0) || options.seconds > 3600) {
    throw UsageError(fmt::format("--seconds {:g} is no usable time", options.seconds),
                     "give more than 0, at most 3600");
  }
  if (!(options.least >= 0) || options.least > 100) {
    throw UsageError(fmt::format("--least {:g} is no share", options.least), "give a percentage, 0 to 100");
  }
  std::vector<NamedPath> inputs = program_input(words);
  for (NamedPath& library : library_inputs({options.allocator})) inputs.push_back(std::move(library));
  check_outputs(
      {{"--out", options.out}, {"--json", options.json}, {"--folded", options.folded}, {"--svg", options.svg}}, inputs);
}

ProfiledRun profile_program(const Options& options, const std::vector<std::string>& words, ProfileSubject& subject) {
  for (const CLI::Option* option : options.of_case) {
    if (option->count() == 0) continue;
    throw UsageError(fmt::format("{} says how a case is run, and there is a command", option->get_name()),
                     "leave one of the two out");
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

std::function<ExitStatus()> configure(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("--allocator", options->allocator,
                 "NAME of a built-in allocator, or NAME=PATH of any malloc replacement (a case: glibc; a command: its "
                 "own)");
  app.add_option("--env", options->env, "NAME:KEY=VALUE, a variable for that allocator")->allow_extra_args(false);
  options->of_case = {
      app.add_option("--case", options->case_name, "the case that is run without a command")->capture_default_str(),
      app.add_option("--size", options->size, "bytes asked of calloc")->capture_default_str(),
      app.add_option("--touch", options->touch, "fraction of the pages written, 0 to 1")->capture_default_str(),
      app.add_option("--thread", options->thread, "main or worker: the thread that allocates")->capture_default_str(),
      app.add_option("--seconds", options->seconds, "how long the case is repeated")->capture_default_str(),
  };
  app.add_option("--hz", options->hz, "samples a second of CPU time")->capture_default_str();
  app.add_option("--least", options->least, "leave out branches of the tree under this percentage")
      ->capture_default_str();
  app.add_option("--out", options->out, "write the report to this file (a command's goes to stderr otherwise)")
      ->check(not_empty());
  app.add_option("--json", options->json, "write everything to this file (- is standard output)")->check(not_empty());
  app.add_option("--folded", options->folded, "write the stacks as flame graph tools read them")->check(not_empty());
  app.add_option("--svg", options->svg, "draw a flame graph of CPU time to this file")->check(not_empty());
  return [options] { return profile(*options); };
}

const Subcommand command("profile", "sample a case, or a program (profile -- COMMAND ...): where does its time go",
                         kExamples, configure);

}  // namespace
}  // namespace zerotax
