#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/units.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "observe/fault_tracer.h"
#include "observe/kernel_event_log.h"
#include "os/input_file.h"
#include "os/print.h"
#include "run/figures.h"
#include "run/program_launch.h"
#include "trace/ctf_trace.h"
#include "trace/document.h"
#include "trace/fields.h"
#include "trace/kernel_events.h"
#include "trace/triggered_run.h"
#include "trace/verbs.h"

namespace zerotax::trace {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples =
    "  zerotax trace run -o trace -- ./service\n"
    "  zerotax trace run --functions -o trace -- ./service\n"
    "  zerotax trace run --kernel -o trace -- ./server && zerotax trace print trace --perfetto trace.json\n"
    "  zerotax trace run --kernel=faults,sched:sched_switch -o trace -- ./server\n"
    "  zerotax trace summary trace --begin request_begin --end request_done\n"
    "  zerotax trace summary trace --begin kernel_fork --end '*' --key child=pid\n"
    "  zerotax trace run --until deadline_missed -o trace -- ./service\n"
    "  zerotax trace start --pid 4711 -o trace && zerotax trace stop --pid 4711\n"
    "  zerotax trace functions trace --tree --filter read_request\n"
    "  zerotax trace functions --diff before after\n"
    "  zerotax trace print trace --perfetto trace.json\n"
    "The program must use the recorder (docs/trace.md), or with --functions be compiled with -finstrument-functions. "
    "With "
    "run, the exit status is the program's own (128 + N if signal N ended it).\n";

constexpr const char* kNothing =
    "zerotax trace: the program recorded nothing: link it with libzerotax-recorder, or compile it with "
    "-finstrument-functions and give --functions\n";

constexpr std::size_t kLinesOfRun = 4;  ///< number of lines that `trace run` prints after the answer

struct TraceOptions {
  std::string action;
  std::string folder;
  std::string out = "zerotax-trace";
  bool functions = false;
  std::string kernel;  ///< kernel events, as --kernel names them; empty for none
  std::string until;
  IntervalChoice intervals;
  std::string key;
  std::string svg;
  std::string event;
  pid_t process = 0;  ///< 0: any
  pid_t thread = 0;
  std::string json;
  std::string perfetto;
};

/// Returns the stream for the summary: standard output, or standard error if JSON goes to standard output.
std::FILE* text_out(const TraceOptions& options) { return options.json == "-" ? stderr : stdout; }

void put_summary(const TraceOptions& options, const Summary& summary) {
  if (!options.json.empty()) write_file(options.json, json_text(summary_json(summary)));
}

std::string printed(const Summary& summary, std::size_t most_lines) {
  return wants_full_text() ? summary_text(summary) : answer_text(summary_answer(summary), most_lines);
}

/// Returns std::nullopt if no intervals are requested.
std::optional<IntervalChoice> interval_choice(const TraceOptions& options) {
  IntervalChoice choice = options.intervals;
  if (choice.from.empty()) return std::nullopt;
  if (!options.key.empty()) choice.set_key(options.key);
  return choice;
}

ExitStatus summarise(const TraceOptions& options) {
  const std::optional<IntervalChoice> choice = interval_choice(options);
  if (!options.svg.empty()) draw_svg("trace_intervals", "");
  CtfTrace trace(options.folder);
  if (choice) choice->check(trace.processes());
  const Summary summary = summary_of(trace, choice);
  put_summary(options, summary);
  if (options.action == "list") {
    print_lines(text_out(options), list_text(summary));
    print_lines(stderr, warnings_text(summary));
  } else {
    print_lines(text_out(options), printed(summary, kAnswerLines));
  }
  if (summary.intervals && summary.intervals->all.count == 0) {
    const std::string& key = options.key;
    print_text(stderr, "zerotax trace: no {} is followed by {} {}\n", choice->from, choice->to,
               key.empty() ? "in the same thread" : "with the same " + key);
    return ExitStatus::kFinding;
  }
  if (!options.svg.empty()) write_file(options.svg, draw_svg("trace_intervals", json_text(summary_json(summary))));
  return ExitStatus::kDone;
}

ExitStatus print(const TraceOptions& options) {
  CtfTrace trace(options.folder);
  write_perfetto_file(options.perfetto, trace);
  // If a Perfetto file is written, events are not printed.
  if (options.perfetto.empty()) {
    std::optional<std::int64_t> begin;
    trace.for_each([&](const CtfEvent& event) {
      if (!begin) begin = event.monotonic_ns;
      if (!options.event.empty() && event.type->name != options.event) return;
      if (options.process != 0 && event.pid != options.process) return;
      if (options.thread != 0 && event.tid != options.thread) return;
      print_text("{}\n", ctf_line(trace.process_of(event), event, *begin));
    });
  }
  print_lines(stderr, warnings_text(source_of(trace)));
  return ExitStatus::kDone;
}

ExitStatus list_kernel_events(const TraceOptions& options) {
  const EventList events = kernel_event_list(options.event);
  if (!options.json.empty()) write_file(options.json, json_text(event_list_json(events)));
  print_lines(text_out(options), kernel_events_text(events));
  return ExitStatus::kDone;
}

ExitStatus repair(const TraceOptions& options) {
  const CtfRepair done = repair_ctf_trace(options.folder);
  print_lines(stderr, problems_text(done.problems));
  print_text("{} added to streams, {} removed\n", format_counted(done.packets, "packet"),
             format_counted(done.buffers, "buffer"));
  return ExitStatus::kDone;
}

struct TraceLaunch {
  std::vector<std::string> words;  ///< command to run
  std::string folder;              ///< folder for the trace; must be empty or absent
  bool functions = false;          ///< whether to preload libzerotax-functions
  /// Kernel events to record: "faults" for the events of FaultTracer, other names for kernel_event_kind.
  std::vector<std::string> kernel;
};

struct TraceRun {
  int exit_status = 0;
  std::string kernel;             ///< method by which kernel events were observed ("tracepoints, every fault"); empty
                                  ///< if they were not observed
  std::uint64_t kernel_lost = 0;  ///< events
};

void check_folder(const std::string& folder) {
  std::error_code failure;
  if (fs::exists(folder, failure) && (!fs::is_directory(folder, failure) || !fs::is_empty(folder, failure))) {
    throw UsageError(fmt::format("'{}' already exists", folder),
                     "remove the existing file or folder, or name another folder with -o");
  }
  fs::create_directories(folder, failure);
  if (failure) {
    require_folder_of(folder);
    throw UsageError(fmt::format("'{}' cannot be created: {}", folder, failure.message()),
                     "name another folder with -o");
  }
}

/// Records kernel events while the program runs.
class KernelWatch {
 public:
  /// Throws the errors of KernelLog, FaultTracer and KernelEventLog.
  KernelWatch(const std::string& folder, bool faults, const std::vector<KernelEventKind>& kinds) : log_(folder) {
    if (faults) {
      FaultTracerOptions options;
      options.each = [&](const Fault& fault, FaultClass kind) { log_.add(fault, kind); };
      options.event = [&](const FaultEvent& event) { log_.add(event); };
      faults_.emplace(options);
    }
    if (!kinds.empty()) events_.emplace(kinds);
  }

  void finish(TraceRun& run) {
    if (faults_) {
      const FaultData data = faults_->finish();
      run.kernel = data.every_fault ? "every fault" : "faults in user mode";
      run.kernel_lost += data.lost;
    }
    if (events_) {
      events_->finish();
      run.kernel_lost += events_->lost();
    }
  }

 private:
  KernelLog log_;
  std::optional<FaultTracer> faults_;
  std::optional<KernelEventLog> events_;
};

/// Runs a program to its end. The recorder in the program writes into the folder. Throws UsageError if the program
/// cannot be started or the folder cannot be used. Throws MachineError if a library is missing or the kernel's events
/// cannot be recorded.
TraceRun run_traced(const TraceLaunch& launch) {
  const std::string program = resolve_program(launch.words.front());
  std::string library;
  if (launch.functions) {
    check_takes_preload(program, "have its functions traced");
    library = project_library("libzerotax-functions.so");
  }
  bool faults = false;
  std::vector<KernelEventKind> kinds;
  for (const std::string& name : launch.kernel) {
    if (name == kFaultsEvent.name) {
      faults = true;
    } else {
      kinds.push_back(kernel_event_kind(name));
    }
  }
  check_folder(launch.folder);
  ForegroundCommand command = foreground_command(program, launch.words, library, std::nullopt);
  command.environment.emplace_back("ZEROTAX_TRACE_DIR", absolute_path(launch.folder).string());
  TraceRun run;
  if (launch.kernel.empty()) {
    run.exit_status = run_program(command, "trace run").exit_status;
    return run;
  }
  KernelWatch watch(absolute_path(launch.folder).string(), faults, kinds);
  run.exit_status = run_program(command, "trace run").exit_status;
  watch.finish(run);
  return run;
}

/// Throws UsageError for `--kernel=` without a value. The parser reads this as `--kernel`, but the user's shell
/// variable after `=` may be unset.
void check_kernel_given() {
  const auto& words = Subcommand::command_line;
  const auto end = std::find(words.begin(), words.end(), "--");
  if (std::find(words.begin(), end, "--kernel=") == end) return;
  throw UsageError("--kernel= names no event", "give --kernel alone, or events (zerotax trace events lists them)");
}

ExitStatus run(const TraceOptions& options) {
  check_kernel_given();
  TraceLaunch launch{Subcommand::program_words(), options.out, options.functions, {}};
  if (!options.kernel.empty()) launch.kernel = kernel_event_names(options.kernel);
  TriggeredRun until(options.until, !options.kernel.empty());
  const TraceRun result = run_traced(launch);
  const std::string stopped = until.finish();
  std::error_code failure;
  if (fs::is_empty(options.out, failure)) {
    print_lines(stderr, kNothing);
  } else {
    print_lines(stderr, problems_text(repair_ctf_trace(options.out).problems));
    CtfTrace trace(options.out);
    const Summary summary = summary_of(trace, std::nullopt);
    put_summary(options, summary);
    print_lines(stderr, printed(summary, kAnswerLines - kLinesOfRun));
    if (!result.kernel.empty()) print_text(stderr, "kernel events: {}\n", result.kernel);
    if (result.kernel_lost > 0)
      print_text(stderr, "! {} lost\n", format_counted(result.kernel_lost, "kernel event was", "kernel events were"));
    print_lines(stderr, stopped.empty() ? until.event_text(summary) : stopped);
    print_text(stderr, "the trace is in {}\n", options.out);
    if (summary.events == 0) print_lines(stderr, kNothing);
  }
  return static_cast<ExitStatus>(result.exit_status);
}

/// Returns the inputs that no output may overwrite: the program, or the files of the trace.
std::vector<NamedPath> inputs_of(const TraceOptions& options) {
  if (options.action == "run") return program_input(Subcommand::program_words());
  return trace_files(options.folder);
}

ExitStatus act(const TraceOptions& options) {
  check_outputs({{"--json", options.json}, {"--perfetto", options.perfetto}, {"--svg", options.svg}},
                inputs_of(options));
  if (options.action == "run") return run(options);
  if (options.action == "events") return list_kernel_events(options);
  if (options.action == "print") return print(options);
  if (options.action == "repair") return repair(options);
  return summarise(options);
}

/// Adds a verb that reads a trace.
Arguments add_reader(Arguments& arguments, const char* name, const char* description, TraceOptions& options) {
  Arguments verb = arguments.verb(name, description);
  add_trace_folder(verb, options.folder);
  return verb;
}

Arguments add_run(Arguments& arguments, TraceOptions& options) {
  Arguments run = arguments.verb("run", "Run a program and record its events");
  run.exactly_one({"--"}, {"no command is given", "give a command after --, as in zerotax trace run -- ./service"});
  run.option("-o,--out", options.out, "write the trace to this folder").path().with_default();
  run.flag("--functions", options.functions, "also record function calls");
  run.option("--kernel", options.kernel,
             "also record kernel events: page faults, forks, execs and exits, and as root page allocations; or "
             "these events (zerotax trace events lists them)")
      .value_optional(kFaultsEvent.name)
      .shown_as("EVENT,...");
  run.option(
         "--until", options.until,
         "keep the latest records, and stop at the first event of this type or at a rate, as in '100 faults in 10ms'")
      .shown_as("TYPE")
      .word();
  add_json(run, options.json);
  return run;
}

Arguments add_print(Arguments& arguments, TraceOptions& options) {
  Arguments print = add_reader(arguments, "print", "Print the events of a trace", options);
  print.option("--event", options.event, "select events of this type").shown_as("TYPE").word();
  print.option("--pid", options.process, "select events of this process").shown_as("PID").positive();
  print.option("--tid", options.thread, "select events of this thread").shown_as("TID").positive();
  print.option("--perfetto", options.perfetto, "write the events to this file, for ui.perfetto.dev").path();
  return print;
}

Arguments add_summary(Arguments& arguments, TraceOptions& options) {
  Arguments summary =
      add_reader(arguments, "summary", "Count events by type, and time intervals between two types", options);
  const Refusal both{"only one of --begin and --end is given",
                     "give both: two types of event (zerotax trace summary lists them)"};
  const Refusal needed{"{0} needs --begin and --end", "give both"};
  summary.option("--begin", options.intervals.from, "start an interval at each event of this type ('*': any)")
      .needs({"--end"}, both)
      .shown_as("TYPE")
      .word();
  summary
      .option("--end", options.intervals.to,
              "end the interval at the next event of this type ('*': any) in the same thread, or with the same --key")
      .needs({"--begin"}, both)
      .shown_as("TYPE")
      .word();
  summary
      .option("--key", options.key,
              "match two events by a field of both, as in address, by one field of each, as in child=pid, or by thread "
              "(the default), process or any")
      .needs({"--begin"}, needed)
      .shown_as("FIELD")
      .word();
  summary.option("--svg", options.svg, "draw the distribution of the intervals to this file")
      .needs({"--begin"}, needed)
      .path();
  add_json(summary, options.json);
  return summary;
}

Arguments add_events(Arguments& arguments, TraceOptions& options) {
  Arguments events = arguments.verb("events", "List the kernel events that trace run --kernel can record");
  events.option("text", options.event,
                "list only events with this text in their name; for a whole name, also list the event's fields");
  add_json(events, options.json);
  return events;
}

std::function<ExitStatus()> configure(Arguments& arguments) {
  const auto options = std::make_shared<TraceOptions>();
  std::vector<Arguments> verbs;
  verbs.push_back(add_run(arguments, *options));
  verbs.push_back(add_reader(arguments, "list", "List the processes and threads of a trace", *options));
  verbs.push_back(add_print(arguments, *options));
  verbs.push_back(add_summary(arguments, *options));
  std::vector<TraceVerb> others{functions_verb(arguments)};
  for (TraceVerb& verb : control_verbs(arguments)) others.push_back(std::move(verb));
  verbs.push_back(add_events(arguments, *options));
  verbs.push_back(add_reader(arguments, "repair", "Complete the files of a trace after a crash", *options));
  return [options, verbs, others] {
    for (const TraceVerb& other : others) {
      if (other.arguments.given()) return other.act();
    }
    for (const Arguments& verb : verbs) {
      if (verb.given()) options->action = verb.name();
    }
    return act(*options);
  };
}

const Subcommand command("trace", Wing::kProgram, "Record and read a program's events and function calls", kExamples,
                         configure);

}  // namespace
}  // namespace zerotax::trace
