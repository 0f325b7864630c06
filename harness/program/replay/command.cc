#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/common_options.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "os/print.h"
#include "replay/result.h"
#include "replay/run.h"
#include "run/interrupt.h"

namespace zerotax::replay {
namespace {

constexpr const char* kExamples =
    "  zerotax record --calls service.calls -- ./service --port 8080\n"
    "  zerotax replay service.calls\n"
    "  zerotax replay workloads --allocator glibc --allocator mine=./libmine.so\n"
    "  zerotax replay service.calls --allocator glibc --allocator mine=./libmine.so\n"
    "  zerotax replay service.calls --allocator glibc \\\n"
    "      --env glibc:MALLOC_TRIM_THRESHOLD_=1073741824 --json replay.json\n"
    "The command replays each recording twice under each allocator: with the recorder for counts, and without the "
    "recorder for times. Exit status 1: an allocator failed.\n";

struct Options {
  std::vector<std::string> files;
  MeasureOptions measure;
  bool free_running = false;
};

ExitStatus run(const Options& options) {
  const std::vector<std::string> paths = recordings_in(options.files);
  std::vector<NamedPath> inputs = library_inputs(options.measure.allocators);
  for (const std::string& path : paths) inputs.push_back({"the recording", path});
  check_outputs({{"--json", options.measure.json}}, inputs);
  Plan plan;
  plan.allocators = replayed_allocators(options.measure.allocators, options.measure.env);
  plan.free_running = options.free_running;
  plan.timeout_s = options.measure.timeout_s;
  const bool alone = paths.size() == 1;
  Workloads all{new_head(alone ? "zerotax.replay/1" : "zerotax.workloads/1")};
  all.complete = replay_calls(paths, plan, all.workloads);
  add_sentence(all);
  if (alone) {
    const Replay one{all, all.workloads.front()};
    if (!options.measure.json.empty()) write_file(options.measure.json, json_text(replay_json(one)));
    if (options.measure.json != "-") {
      print_lines(stdout, wants_full_text() ? replay_text(one) : answer_text(replay_answer(one)));
    }
  } else {
    if (!options.measure.json.empty()) write_file(options.measure.json, json_text(workloads_json(all)));
    if (options.measure.json != "-") {
      print_lines(stdout, wants_full_text() ? workloads_text(all) : answer_text(workloads_answer(all)));
    }
  }
  if (!all.complete) say_interrupted();
  return all.complete && std::any_of(all.workloads.begin(), all.workloads.end(), any_failed) ? ExitStatus::kFinding
                                                                                             : ExitStatus::kDone;
}

const Subcommand command("replay", Wing::kProgram, "Repeat a program's recorded allocations under other allocators",
                         kExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<Options>();
                           arguments
                               .option("files", options->files, "files of zerotax record --calls, or folders of them")
                               .shown_as("FILE...")
                               .required()
                               .path();
                           options->measure.add_allocators(arguments);
                           arguments.flag(
                               "--free-running", options->free_running,
                               "keep the recorded order of calls only within each thread and for each block");
                           add_json(arguments, options->measure.json);
                           return [options] { return run(*options); };
                         });

}  // namespace
}  // namespace zerotax::replay
