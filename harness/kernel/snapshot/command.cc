#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/lines.h"
#include "base/size.h"
#include "cli/common_options.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/document.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/numa_nodes.h"
#include "os/print.h"
#include "run/allocators.h"
#include "run/figures.h"
#include "run/interrupt.h"
#include "snapshot/runs.h"
#include "snapshot/sweep.h"
#include "snapshot/table.h"

namespace zerotax::snapshot {
namespace {

constexpr const char* kExamples =
    "  zerotax snapshot\n"
    "  zerotax snapshot --size 256MiB --alternative none --alternative fork --alternative uffd_wp\n"
    "  zerotax snapshot --allocator mine=./libmine.so --json snapshot.json --svg snapshot.svg\n"
    "  zerotax snapshot --size 64MiB --hold 0.5\n"
    "  zerotax snapshot --size 256MiB --remedies    # for the faults after the child's end\n"
    "  zerotax snapshot --published                 # 28 writers that start after the fork\n"
    "  zerotax snapshot --sweep writers=1,4,28 --sweep size=64MiB,1GiB --json sweep.json --plot\n"
    "Root sees every fault and the kernel's functions. Exit status 1: a snapshot was wrong, or a run failed.\n";

/// The options of `zerotax snapshot`.
struct Options {
  MeasureOptions measure;
  std::string size = "1GiB";
  std::string batch = "2MiB";
  std::vector<std::string> alternatives;
  bool remedies = false;
  bool published = false;
  std::string svg;
  bool plot = false;
  double hold = -1;
  std::vector<std::string> sweep;
  std::string read;
  SnapshotPlan plan;
};

/// The exit status, which reports whether any result or row failed.
template <typename Each>
ExitStatus exit_status_of(const std::vector<Each>& results) {
  const bool found = std::any_of(results.begin(), results.end(),
                                 [](const Each& each) { return !each.ok() && each.status != Status::kSkipped; });
  return found ? ExitStatus::kFinding : ExitStatus::kDone;
}

/// The requested plan with its sizes. Nothing is checked yet, and there are no allocators or alternatives.
SnapshotPlan sized_plan(const Options& options) {
  SnapshotPlan plan = options.plan;
  plan.timeout_s = options.measure.timeout_s;
  plan.parameters.array_bytes = plan.published.array_bytes = parse_size(options.size);
  plan.parameters.batch_bytes = plan.published.batch_bytes = parse_size(options.batch);
  plan.published.hold = plan.parameters.hold;
  return plan;
}

std::vector<Allocator> allocators_of(const Options& options) {
  const auto& words = options.measure.allocators;
  return resolve_allocators(words.empty() ? std::vector<std::string>{"glibc"} : words, options.measure.env);
}

SnapshotPlan plan_of(const Options& options) {
  SnapshotPlan plan = sized_plan(options);
  check_snapshot(plan.parameters);
  std::vector<std::string> names = options.alternatives;
  if (options.remedies) {
    const std::vector<std::string> more = remedy_names();
    names.insert(names.begin(), more.begin(), more.end());
  }
  if (options.published) {
    const std::vector<std::string> more = published_names();
    names.insert(names.end(), more.begin(), more.end());
  }
  plan.alternatives = chosen_alternatives(names);
  for (const SnapshotAlternative& each : plan.alternatives) check_snapshot(plan.parameters_of(each));
  plan.allocators = allocators_of(options);
  return plan;
}

/// Prints the tables, and writes the figure if it was requested. Returns the exit status, which reports whether
/// anything failed.
ExitStatus show(const Snapshot& snapshot, const Options& options) {
  const std::string document = json_text(snapshot);
  const std::string& file = options.measure.json;
  if (!file.empty()) write_file(file, document);
  if (file != "-") {
    print_lines(stdout, wants_full_text() ? snapshot_text(snapshot) : answer_text(snapshot_answer(snapshot)));
  } else {
    for (const OrNull<std::string>& warning : {snapshot.contradiction, snapshot.loss}) {
      if (warning) try_to_print(stderr, wrap(*warning, "! ", "  "));
    }
  }
  if (options.plot && file != "-") print_lines(stdout, cpu_time_plots(snapshot, plot_style()));
  if (!options.svg.empty()) {
    try {
      write_file(options.svg, draw_svg("fork_snapshot", document));
    } catch (const MachineError& failure) {
      print_text(stderr, "zerotax: no figure: {}: {}\n", failure.what(), failure.remedy());
    }
  }
  return exit_status_of(snapshot.results);
}

/// Shows a file, which an earlier version may have written, with this version's verdict.
ExitStatus judge_again(const Options& options) {
  check_outputs({{"--json", options.measure.json}, {"--svg", options.svg}}, {{"--read", options.read}});
  Snapshot snapshot = read_snapshot(read_document(options.read, "snapshot", "give a file of zerotax snapshot --json"));
  add_verdict(snapshot);
  return show(snapshot, options);
}

/// The alternatives of a sweep. The defaults are the benchmark as published, and the benchmark as it was intended.
std::vector<SnapshotAlternative> swept_alternatives(const Options& options) {
  if (options.alternatives.empty()) return chosen_alternatives({"published", "published_fixed"});
  return chosen_alternatives(options.alternatives);
}

/// Runs `zerotax snapshot --sweep`.
ExitStatus run_sweep_command(const Options& options) {
  if (options.measure.allocators.size() > 1) {
    throw UsageError("--sweep cannot be combined with several --allocator", "give one");
  }
  check_outputs({{"--json", options.measure.json}}, library_inputs(options.measure.allocators));
  SnapshotPlan given = sized_plan(options);
  given.alternatives = swept_alternatives(options);
  const bool all_published = std::all_of(given.alternatives.begin(), given.alternatives.end(),
                                         [](const SnapshotAlternative& each) { return each.published; });
  const SweepAxes axes =
      parse_sweep(options.sweep, all_published ? given.published : given.parameters, numa_nodes().size());
  given.allocators = allocators_of(options);
  const std::vector<SnapshotPlan> rows = sweep_rows(axes, given);
  const std::string started = utc_now();
  const Json environment = describe_environment();
  Sweep sweep = run_sweep(axes, rows);
  sweep.started = started;
  sweep.command = Subcommand::command_line;
  sweep.environment = environment;
  add_sweep_verdict(sweep);
  if (stop_requested()) say_interrupted();
  const std::string& file = options.measure.json;
  if (!file.empty()) write_file(file, json_text(sweep));
  if (file != "-") {
    print_lines(stdout, wants_full_text() ? sweep_table(sweep) : answer_text(sweep_answer(sweep)));
    if (options.plot) print_lines(stdout, cpu_time_plots(sweep, plot_style()));
  }
  if (sweep.loss && (file == "-" || wants_full_text())) try_to_print(stderr, wrap(*sweep.loss, "! ", "  "));
  return exit_status_of(sweep.rows);
}

ExitStatus run(const Options& options) {
  if (!options.sweep.empty()) return run_sweep_command(options);
  if (!options.read.empty()) return judge_again(options);
  check_outputs({{"--json", options.measure.json}, {"--svg", options.svg}}, library_inputs(options.measure.allocators));
  const SnapshotPlan plan = plan_of(options);
  const std::string started = utc_now();
  const Json environment = describe_environment();
  Snapshot snapshot = run_snapshots(plan);
  snapshot.started = started;
  snapshot.command = Subcommand::command_line;
  snapshot.environment = environment;
  add_verdict(snapshot);
  if (snapshot.state == Completion::kInterrupted) say_interrupted();
  return show(snapshot, options);
}

constexpr const char* kSweepAlone = "{0} and {1} do not go together";

/// Options of the measured program. Without them, the published program has its own values.
struct ProgramArguments {
  Argument writers;
  Argument checkpointers;
  Argument passes;
  Argument hold;
};

ProgramArguments add_program_options(Arguments& arguments, Options& options) {
  const unsigned cpus = std::clamp(std::thread::hardware_concurrency(), 1U, 64U);
  SnapshotParameters& parameters = options.plan.parameters;
  parameters.writers = cpus;
  parameters.checkpointers = std::max(1U, cpus / 4);
  add_size(arguments, options.size, "of the array");
  arguments.option("--batch", options.batch, "copy and unmap this many bytes at a time")
      .shown_as("SIZE")
      .with_default();
  const Argument writers =
      arguments.option("--writers", parameters.writers, "write to the array with this many threads")
          .shown_as("N")
          .with_default();
  const Argument checkpointers =
      arguments.option("--checkpointers", parameters.checkpointers, "copy the array with this many threads")
          .shown_as("N")
          .with_default();
  const Argument passes = arguments.option("--passes", parameters.passes, "write to the whole array this many times")
                              .shown_as("N")
                              .with_default();
  const Argument hold = arguments
                            .option("--hold", options.hold,
                                    "hold the writers until this share of the array is copied, and copy the rest after "
                                    "the writers end (1: hold until the child ends); counts are exact, and times are "
                                    "meaningless")
                            .shown_as("SHARE")
                            .in_range(0, 1);
  return {writers, checkpointers, passes, hold};
}

void add_alternative_options(Arguments& arguments, Options& options) {
  arguments
      .option("--alternative", options.alternatives,
              "take the snapshot with this alternative (repeatable; default: the usual alternatives; an unknown name "
              "lists all)")
      .shown_as("NAME")
      .completed_by(alternative_names)
      .repeatable();
  arguments
      .flag("--remedies", options.remedies,
            "measure remedies for the writers' faults after the child's end, in addition to fork and fork_munmap")
      .excludes({"--published"},
                {"{0} and {1} start their writers at different times", "measure one mode after the other"});
  arguments.flag(
      "--published", options.published,
      fmt::format("measure the published program: fork, and then {} writers (or --writers), {} checkpointers, "
                  "{} pass; private destination",
                  kPublishedWriters, kPublishedCheckpointers, kPublishedPasses));
  arguments
      .option(
          "--sweep", options.sweep,
          "measure each combination of the values of several axes (writers, checkpointers, size, batch, placement), "
          "or of the 'usual' values (repeatable; default alternatives: published, published_fixed)")
      .excludes({"--svg"}, {kSweepAlone, "use --plot or --json"})
      .excludes({"--remedies"}, {kSweepAlone, "name the alternatives with --alternative"})
      .excludes({"--published"},
                {kSweepAlone, "leave out --published, because a sweep measures that program by default"})
      .shown_as("AXIS=A,B")
      .word()
      .repeatable();
}

std::function<ExitStatus()> configure(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  const ProgramArguments program = add_program_options(arguments, *options);
  add_alternative_options(arguments, *options);
  options->plan.repeat = kUsualRounds;
  add_rounds(arguments, options->plan.repeat, "").in_range(1, 1000).with_default();
  options->measure.add_allocators(arguments, "glibc");
  add_read(arguments, options->read);
  add_json(arguments, options->measure.json);
  add_plot_option(arguments, options->plot, "CPU time over time, in user mode and in the kernel,");
  arguments.option("--svg", options->svg, "draw the trade-off and the faults over time to this file").path();
  return [=] {
    SnapshotParameters& given = options->plan.parameters;
    if (program.hold.given()) given.hold = options->hold;
    SnapshotParameters& published = options->plan.published;
    published.writers = program.writers.given() ? given.writers : kPublishedWriters;
    published.checkpointers = program.checkpointers.given() ? given.checkpointers : kPublishedCheckpointers;
    published.passes = program.passes.given() ? given.passes : kPublishedPasses;
    published.sizes = kPublishedSizes;
    return run(*options);
  };
}

const Subcommand command("snapshot", Wing::kKernel, "Compare fork with other ways to take a snapshot of memory",
                         kExamples, configure);

}  // namespace
}  // namespace zerotax::snapshot
