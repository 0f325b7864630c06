#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/lines.h"
#include "base/printable.h"
#include "base/size.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "observe/flame_graph.h"
#include "os/clock.h"
#include "os/elf_file.h"
#include "os/foreground.h"
#include "os/print.h"
#include "record/answer.h"
#include "record/calls/recording.h"
#include "record/outside/result.h"
#include "record/outside/scope.h"
#include "record/outside/watch.h"
#include "record/resident/watch.h"
#include "record/result.h"
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
    "  zerotax record --calls service.calls -- ./service # for zerotax replay\n"
    "  zerotax record --pid 4711 --seconds 5             # a running process\n"
    "  zerotax record --cgroup /system.slice/redis.service --seconds 5\n"
    "A running process, and a program that cannot load zerotax's library (static, Go, musl), are recorded from "
    "outside: "
    "counted and sampled, never stopped. Ctrl-C ends such a recording early and keeps what was recorded. The exit "
    "status is the program's own (128 + N if signal N ended it); 2 if it cannot be recorded.\n";

constexpr double kProcessSeconds = 10;

struct RecordOptions {
  std::string allocator;
  std::vector<std::string> env;
  std::string text;
  std::string json;
  std::string folded;
  std::string svg;
  std::string pprof;
  std::string calls;
  std::string calls_limit = "1GiB";
  std::optional<std::string> weight;
  std::optional<int> pid;
  std::optional<std::string> cgroup;
  bool all = false;
  bool sizes = false;
  bool light = false;
  bool resident = false;
  std::optional<std::string> at;
  double seconds = kProcessSeconds;
};

/// Returns the scope of --pid, --cgroup or --all, or nothing if none of these options is given.
std::optional<WatchScope> scope_of(const RecordOptions& options) {
  std::optional<WatchScope> scope;
  if (options.pid) scope = WatchScope::of_process(*options.pid);
  if (options.cgroup) scope = WatchScope::of_cgroup(*options.cgroup);
  if (options.all) scope = WatchScope::of_all();
  if (scope && options.light) scope->make_light();
  return scope;
}

/// Returns the weight of a recording from outside. In such a recording, the sites have kernel-zeroed, refilled and
/// returned bytes and the time of stores, but no zeroed or redundant bytes.
StackWeight outside_weight(const RecordOptions& options) {
  const StackWeight weight = parse_stack_weight(options.weight.value_or("kernel"));
  if (weight != StackWeight::kRedundant && weight != StackWeight::kZeroed) return weight;
  throw UsageError(fmt::format("--weight {} needs zerotax's library in the program", *options.weight),
                   "give --weight kernel, refilled, returned or ns");
}

FlameGraphWords graph_words(const Record& record, StackWeight weight) {
  const std::string command = fmt::format("{}", fmt::join(record.command, " "));
  constexpr std::size_t kLongest = 150;
  return {stack_weight_title(weight), first_characters(printable(command), kLongest), weight == StackWeight::kTime};
}

void write(const RecordOptions& options, const Record& record, StackWeight weight) {
  if (!options.json.empty()) write_file(options.json, json_text(record_json(record)));
  const FoldedStacks stacks = fold_sites(record.sites, weight);
  if (!options.folded.empty()) write_file(options.folded, folded_text(stacks));
  if (!options.pprof.empty()) write_file(options.pprof, pprof_of(record, weight));
  if (!options.svg.empty()) write_file(options.svg, flame_graph_svg(stacks, graph_words(record, weight)));
  if (options.text.empty()) {
    print_lines(stderr, wants_full_text() ? record_text(record) : answer_text(answer(record)));
  } else {
    write_file(options.text, record_text(record));
  }
}

/// Records programs from outside their processes, by the kernel's counts and samples. `why` is the reason why a command
/// is not recorded by the library, as in "is statically linked". For running processes, `why` is unused.
ExitStatus run_outside(const RecordOptions& options, std::optional<WatchScope> scope,
                       const std::vector<std::string>& words, const std::string& why) {
  const StackWeight weight = outside_weight(options);
  const std::string started = utc_now();
  const OutsideData data = scope ? watch_scope(std::move(*scope), options.seconds, options.sizes)
                                 : watch_command(words, resolve_program(words.front()));
  write(options, outside_result(data, scope ? "it ran already" : "it " + why, started), weight);
  return static_cast<ExitStatus>(data.run ? data.run->exit_status : 0);
}

/// The exit status is the program's own. If zerotax itself fails, a line on stderr says so.
ExitStatus run(const RecordOptions& options) {
  const std::vector<std::string> words = Subcommand::program_words();
  std::optional<WatchScope> scope = scope_of(options);
  const StackWeight weight = parse_stack_weight(options.weight.value_or("redundant"));
  std::vector<NamedPath> inputs = program_input(words);
  for (NamedPath& library : library_inputs({options.allocator})) inputs.push_back(std::move(library));
  check_outputs({{"--text", options.text},
                 {"--json", options.json},
                 {"--folded", options.folded},
                 {"--svg", options.svg},
                 {"--pprof", options.pprof},
                 {"--calls", options.calls}},
                inputs);
  const std::string outside = words.empty() ? "" : why_outside_only(resolve_program(words.front()));
  if (scope || (!outside.empty() && options.allocator.empty())) {
    if (options.resident) {
      throw UsageError(fmt::format("the memory of '{}' cannot be divided: it {}", words.front(), outside),
                       "leave out --resident to record the program without zerotax's library");
    }
    if (options.calls.empty()) return run_outside(options, std::move(scope), words, outside);
    throw UsageError(fmt::format("the calls of '{}' cannot be recorded: it {}", words.front(), outside),
                     "leave out --calls to record the program without zerotax's library");
  }
  RecordTarget target = resolve_record_target(words, options.allocator, options.env);
  RecordArena arena(options.resident);
  std::optional<CallsRecording> calls;
  if (!options.calls.empty()) {
    calls.emplace(options.calls, parse_size(options.calls_limit));
    target.call_area = calls->area_path();
  }
  const std::string started = utc_now();
  RunWatch watch(arena);
  std::optional<ResidentWatch> resident;
  if (options.resident) resident.emplace(arena);
  if (options.at) keep_from_foreground(*options.at == "HUP" ? SIGHUP : *options.at == "USR1" ? SIGUSR1 : SIGUSR2);
  const ForegroundResult result = run_recorded(target, arena);
  watch.stop();
  if (resident) resident->stop();
  if (calls) calls->stop();
  const Record record = record_result(target, result, arena, started, &watch, resident ? &*resident : nullptr);
  // Files are written first, because writing the summary may fail.
  const std::string about_calls = calls ? calls->finish(record, target, result.started_ns) : "";
  write(options, record, weight);
  print_lines(stderr, about_calls);
  return static_cast<ExitStatus>(result.exit_status);
}

const Refusal kOfCommand{"{0} applies only to a command, but {1} is given", "leave one of them out"};

/// Adds the options that choose what to record, and how: a command or running processes.
void add_target(Arguments& arguments, RecordOptions& options) {
  arguments.option("-p,--pid", options.pid, "record this running process and its descendants, without stopping them")
      .shown_as("PID");
  arguments
      .option("--cgroup", options.cgroup,
              "record the processes of this cgroup: its path in /proc/PID/cgroup, or its folder")
      .shown_as("PATH");
  arguments.flag("--all", options.all, "record all running processes (without root, only yours)");
  arguments.exactly_one({"--pid", "--cgroup", "--all", "--"},
                        {"no command is given", "give a command after --, as in zerotax record -- ./service"});
  arguments.option("--seconds", options.seconds, "with --pid, --cgroup or --all, stop after this time")
      .seconds()
      .excludes({"--"}, {"{0} without --pid, --cgroup or --all",
                         "a command is recorded to its end; limit its time with timeout(1)"})
      .shown_as("SECONDS")
      .with_default();
  arguments
      .flag("--sizes", options.sizes,
            "with --pid or --cgroup, as root, count each call to memset and its siblings by size and caller; each call "
            "costs the program microseconds")
      .needs({"--pid", "--cgroup"}, {"{0} without {1}", "start the program first, then give its PID"});
  arguments
      .flag("--light", options.light,
            "with --pid, --cgroup or --all, use no tracepoints, which cost a busy server several percent; zeroed "
            "bytes are then estimates, and calls that return memory are not seen")
      .excludes({"--"}, {"{0} without --pid, --cgroup or --all",
                         "leave out {0}, because a command is recorded with zerotax's library"});
  const std::vector<std::string> running{"--pid", "--cgroup", "--all"};
  arguments
      .flag(
          "--resident", options.resident,
          "also find which memory was freed and stays resident, when the program is idle, at its peak and at its end; "
          "each call to the allocator then takes longer")
      .excludes(running, kOfCommand);
  arguments
      .option("--at", options.at,
              "with --resident, also sample when zerotax gets this signal; the program does not get it")
      .needs({"--resident"}, {"{0} is given without {1}", "add {1}, or leave out {0}"})
      .one_of({"HUP", "USR1", "USR2"})
      .shown_as("SIGNAL");
  add_allocator(arguments, options.allocator, "the program's own").excludes(running, kOfCommand);
  add_env(arguments, options.env).excludes(running, kOfCommand);
}

void add_outputs(Arguments& arguments, RecordOptions& options) {
  add_text(arguments, options.text, "stderr");
  add_json(arguments, options.json);
  arguments
      .option("--folded", options.folded,
              "write call stacks and their weights in the folded format of flame graph tools")
      .path();
  arguments.option("--svg", options.svg, "draw the call stacks as a flame graph to this file").path();
  arguments.option("--pprof", options.pprof, "write call sites in pprof format (for go tool pprof, Parca, Pyroscope)")
      .path();
  arguments.option("--calls", options.calls, "write each call to the allocator to this file, for zerotax replay")
      .excludes({"--calls=-"}, {"{0} cannot go to standard output", "give the path of a file"})
      .excludes({"--pid", "--cgroup", "--all"}, kOfCommand)
      .path();
  arguments
      .option("--calls-limit", options.calls_limit, "stop writing calls when the file of --calls has reached this size")
      .needs({"--calls"}, {"{0} is given without {1}", "add {1} FILE, or leave out {0}"})
      .shown_as("SIZE")
      .with_default();
  arguments
      .option("--weight", options.weight,
              "weigh the stacks of --folded, --svg and --pprof by bytes (redundant, the default; zeroed; kernel, the "
              "default without zerotax's library; refilled; returned), or by the time of large stores (ns)")
      .shown_as("WEIGHT")
      .completed_by(stack_weight_names);
}

const Subcommand command("record", Wing::kProgram, "Measure what zeroing costs a program, and which calls cause it",
                         kExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<RecordOptions>();
                           add_target(arguments, *options);
                           add_outputs(arguments, *options);
                           return [options] { return run(*options); };
                         });

}  // namespace
}  // namespace zerotax::record
