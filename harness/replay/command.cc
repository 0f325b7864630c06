#include <fmt/format.h>

#include <memory>

#include "cli/common_options.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "files/output_paths.h"
#include "os/environment.h"
#include "os/utc.h"
#include "replay/document.h"
#include "replay/run.h"
#include "run/interrupt.h"

namespace zerotax::replay {
namespace {

constexpr const char* kExamples =
    "  zerotax record --calls service.calls -- ./service --port 8080\n"
    "  zerotax replay service.calls\n"
    "  zerotax replay service.calls --allocator glibc --allocator mine=./libmine.so\n"
    "  zerotax replay service.calls --allocator glibc \\\n"
    "      --env glibc:MALLOC_TRIM_THRESHOLD_=1073741824 --json replay.json\n"
    "Each allocator is replayed twice: under the recorder, for counts, and without, for times. Exit status 1: an "
    "allocator "
    "failed.\n";

struct Options {
  std::string file;
  MeasureOptions measure;
  bool free_running = false;
};

ExitStatus run(const Options& options) {
  if (!(options.measure.timeout_s > 0)) {
    throw UsageError(fmt::format("invalid --timeout {:g}", options.measure.timeout_s), "give more than 0 seconds");
  }
  std::vector<NamedPath> inputs = library_inputs(options.measure.allocators);
  inputs.push_back({"the recording", options.file});
  check_outputs({{"--json", options.measure.json}}, inputs);
  const CallsFile file(options.file);
  Plan plan;
  plan.allocators = replayed_allocators(options.measure.allocators, options.measure.env);
  plan.free_running = options.free_running;
  plan.timeout_s = options.measure.timeout_s;
  Replay replay;
  replay.schema = "zerotax.replay/1";
  replay.zerotax_version = ZEROTAX_VERSION;
  replay.started = utc_now();
  replay.command = Subcommand::command_line;
  replay.environment = describe_environment();
  replay.recording.path = options.file;
  replay.complete = replay_calls(file, plan, replay);
  add_verdict(replay);
  if (!options.measure.json.empty()) write_file(options.measure.json, json_text(replay_json(replay)));
  if (options.measure.json != "-") fmt::print("{}", replay_text(replay));
  if (!replay.complete) say_interrupted();
  return replay.complete && any_failed(replay) ? ExitStatus::kFinding : ExitStatus::kDone;
}

const Subcommand command(
    "replay", Question::kProgram, "make the calls of a recorded program again, under other allocators and settings",
    kExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      arguments.option("file", options->file, "file of zerotax record --calls").shown_as("FILE").required().path();
      options->measure.add_allocators(arguments);
      arguments.flag("--free-running", options->free_running,
                     "keep the recorded order of calls within each thread and for each block only");
      add_json(arguments, options->measure.json);
      return [options] { return run(*options); };
    });

}  // namespace
}  // namespace zerotax::replay
