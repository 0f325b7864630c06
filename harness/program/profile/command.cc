#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/lines.h"
#include "base/size.h"
#include "base/units.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "observe/flame_graph.h"
#include "observe/running_process.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/print.h"
#include "profile/result.h"
#include "profile/run.h"
#include "profile/table.h"
#include "profile/unseen.h"
#include "run/allocators.h"
#include "run/planning.h"
#include "run/program_launch.h"

namespace zerotax::profile {
namespace {

constexpr const char* kExamples =
    "  zerotax profile --allocator largecache --size 100MiB\n"
    "  zerotax profile --allocator glibc --size 20MiB --touch 1 --seconds 5 --folded stacks.txt\n"
    "  zerotax profile -- python3 -c 'for i in range(50): bytearray(10**8)'\n"
    "  zerotax profile --allocator mimalloc --json profile.json -- ./service\n"
    "  zerotax profile --pid 4711 --seconds 10           # a running process, on the CPU\n"
    "  zerotax profile --pid 4711 --wall                 # its blocked threads, too\n"
    "With a command, the exit status is the program's own (128 + N if signal N ended it), but 3 if less than half of "
    "its CPU time could be sampled. Ctrl-C ends --pid early and keeps what was sampled.\n";

struct Options {
  std::string allocator;
  std::vector<std::string> env;
  std::string case_name = "calloc_loop";
  std::string size = kUsualSize;
  double touch = 0;
  std::string thread = kUsualThread;
  std::optional<double> seconds;
  bool wall = false;
  bool by_thread = false;
  std::optional<int> pid;
  unsigned hz = 997;
  double least = 1;
  std::string text;
  std::string json;
  std::string folded;
  std::string svg;
};

constexpr double kCaseSeconds = 2;
constexpr double kProcessSeconds = 10;

void check(const Options& options, const std::vector<std::string>& words) {
  if (options.pid) check_process(*options.pid);
  std::vector<NamedPath> inputs = program_input(words);
  for (NamedPath& library : library_inputs({options.allocator})) inputs.push_back(std::move(library));
  check_outputs(
      {{"--text", options.text}, {"--json", options.json}, {"--folded", options.folded}, {"--svg", options.svg}},
      inputs);
}

ProfileOptions sampling(const Options& options) { return {options.hz, options.wall, options.by_thread}; }

ProfiledRun profile_program(const Options& options, const std::vector<std::string>& words, ProfileSubject& subject) {
  subject.command = words;
  ProfileOptions how = sampling(options);
  how.by_thread = options.wall || options.by_thread;
  return profile_command(words, resolve_program_allocator(options.allocator, options.env), how);
}

ProfiledRun profile_running(const Options& options, ProfileSubject& subject) {
  subject.command = {"--pid", fmt::format("{}", *options.pid)};
  return profile_process(*options.pid, options.seconds.value_or(kProcessSeconds), sampling(options));
}

ProfiledRun profile_case(const Options& options, ProfileSubject& subject) {
  const std::uint64_t size = parse_size(options.size);
  check_axes({{options.case_name}, {size}, {options.touch}, {options.thread}});
  const std::string name = options.allocator.empty() ? "glibc" : options.allocator;
  const Allocator allocator = resolve_allocators({name}, options.env).front();
  subject.command = {options.case_name, allocator.name, format_size(size), fmt::format("touch {:g}", options.touch),
                     options.thread};
  const PointSpec point{0, options.case_name, size, options.touch, options.thread, {}};
  return profile_point(allocator, point, options.seconds.value_or(kCaseSeconds), sampling(options));
}

std::string flame_graph(const ProfileSubject& subject, const ProfileData& data) {
  const FlameGraphWords words{fmt::format("{}", fmt::join(subject.command, " ")),
                              subject.wall ? "time of all threads by sampling" : "CPU time by sampling", true};
  return flame_graph_svg(folded_stacks(data, 1'000'000'000 / subject.hz), words);
}

ExitStatus profile(const Options& options) {
  const std::vector<std::string> words = Subcommand::program_words();
  check(options, words);
  ProfileSubject subject;
  subject.hz = options.hz;
  subject.wall = options.wall;
  subject.started = utc_now();
  const ProfiledRun run = options.pid     ? profile_running(options, subject)
                          : words.empty() ? profile_case(options, subject)
                                          : profile_program(options, words, subject);
  subject.process = run.process;
  subject.wall_s = run.wall_s;
  subject.user_s = run.user_s;
  subject.system_s = run.system_s;
  subject.faults = run.faults;
  subject.exit_status = run.exit_status;
  Profile found = profile_result(subject, run.data, describe_environment());
  found.kind = options.pid ? ProfiledKind::kProcess : words.empty() ? ProfiledKind::kCase : ProfiledKind::kCommand;
  if (!options.json.empty()) write_file(options.json, json_text(profile_json(found)));
  // A flame graph of the smaller part would be as misleading as a call tree.
  const bool misleads = is_mostly_unseen(found);
  if (!options.folded.empty() && !misleads) write_file(options.folded, folded_text(folded_stacks(run.data)));
  if (!options.svg.empty() && !misleads) write_file(options.svg, flame_graph(subject, run.data));
  const std::string full = wrap(headline(found)) + "\n" + profile_text(found, 80, options.least / 100);
  const std::string text = wants_full_text() ? full : answer_text(profile_answer(found));
  if (!options.text.empty()) {
    write_file(options.text, full);
  } else if (words.empty()) {
    if (options.json != "-" && options.folded != "-") print_lines(stdout, text);
  } else {
    print_lines(stderr, text);  // standard output belongs to the program
  }
  return misleads ? ExitStatus::kMachine : static_cast<ExitStatus>(run.exit_status);
}

void add_target(Arguments& arguments, Options& options) {
  arguments.option("-p,--pid", options.pid, "sample this running process and its descendants, without stopping them")
      .excludes({"--"}, {"both a process and a command are given", "leave one of them out"})
      .shown_as("PID");
  const Refusal of_start{"{0} applies only to what zerotax starts, but {1} is given", "leave one of them out"};
  add_allocator(arguments, options.allocator, "glibc for a case, a command's own").excludes({"--pid"}, of_start);
  add_env(arguments, options.env).excludes({"--pid"}, of_start);
  const Refusal of_case{"{0} applies only to a case, but {1} is given", "leave one of them out"};
  for (Argument each : {add_case(arguments, options.case_name, "without a command"), add_size(arguments, options.size),
                        add_touch(arguments, options.touch), add_thread(arguments, options.thread)}) {
    each.excludes({"--pid", "--"}, of_case);
  }
  arguments
      .option("--seconds", options.seconds,
              "repeat the case, or sample --pid, for this many seconds (default: 2, or 10 for --pid)")
      .seconds()
      .excludes({"--"}, {"{0} applies only to a case or --pid, but {1} is given", "leave one of them out"})
      .shown_as("SECONDS");
}

std::function<ExitStatus()> configure(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  add_target(arguments, *options);
  arguments.flag("--wall", options->wall,
                 "sample every thread by wall-clock time, running or blocked, not by CPU time");
  arguments.flag("--by-thread", options->by_thread,
                 "with --full, print a call tree for each thread (always with --pid, or with --wall and a "
                 "command)");
  arguments
      .option("--hz", options->hz, "take this many samples per second of CPU time (with --wall, of each thread's time)")
      .in_range(1, 20'000, "samples a second")
      .shown_as("N")
      .with_default();
  arguments.option("--least", options->least, "with --full, leave out branches of the call tree below this percentage")
      .in_range(0, 100, "percent")
      .shown_as("PERCENT")
      .with_default();
  add_text(arguments, options->text, "stdout for a case, stderr for a command");
  add_json(arguments, options->json);
  arguments.option("--folded", options->folded, "write the stacks in the folded format of flame graph tools").path();
  arguments.option("--svg", options->svg, "draw a flame graph of CPU time to this file").path();
  return [options] { return profile(*options); };
}

const Subcommand command("profile", Wing::kProgram, "Sample where a program or process spends its time", kExamples,
                         configure);

}  // namespace
}  // namespace zerotax::profile
