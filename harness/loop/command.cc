#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/size.h"
#include "cli/common_options.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "core/interrupt.h"
#include "core/memory_guard.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "core/results.h"
#include "loop/document.h"
#include "loop/loops.h"
#include "os/environment.h"

namespace zerotax::loop {
namespace {

constexpr const char* kExamples =
    "  zerotax loop                                  the loop of 2016: 10,000 callocs of 100 MiB, of 1000 MiB\n"
    "  zerotax loop --allocator largecache --seconds 600     to its end, not estimated\n"
    "  zerotax loop --size 64KiB --size 1GiB --touch 1 --json loop.json\n";

/// More would not fit the counters of a probe.
constexpr std::int64_t kMostCalls = 1'000'000'000;

struct Options {
  MeasureOptions measure;
  std::int64_t ops = 10'000;
  double seconds = 1;
  double touch = 0;
};

LoopRequest request_of(const Options& options) {
  if (options.ops < 1 || options.ops > kMostCalls) {
    throw UsageError(fmt::format("invalid --ops {}", options.ops), "give 1 to 1000000000");
  }
  if (!(options.seconds > 0) || options.seconds > 86'400) {
    throw UsageError(fmt::format("invalid --seconds {:g}", options.seconds),
                     "give seconds, more than 0 and at most 86400");
  }
  LoopRequest request{static_cast<std::uint32_t>(options.ops), options.seconds, options.touch, {}};
  for (const std::string& size : options.measure.sizes) request.sizes.push_back(parse_size(size));
  if (request.sizes.empty()) request.sizes = {100 * kMiB, 1000 * kMiB};
  check_axes({{"calloc_loop", "malloc_loop"}, request.sizes, {options.touch}, {"main"}});
  return request;
}

ExitStatus run(const Options& options) {
  options.measure.check();
  const LoopRequest request = request_of(options);
  const std::string& file = options.measure.json;
  check_outputs({{"--json", file}}, library_inputs(options.measure.allocators));
  Plan plan;
  // A loop that may take long must not be ended by the limit of a point.
  plan.timeout_s = options.measure.timeout_s + 2 * request.seconds;
  plan.allocators = resolve_allocators(options.measure.allocators, options.measure.env);
  const std::string started = utc_now();
  std::uint64_t largest = 0;
  for (const std::uint64_t size : request.sizes) {
    if (why_too_large(size).empty()) largest = std::max(largest, size);
  }
  warm_up(largest + largest / 4);
  const std::vector<LoopPair> pairs = run_loops(plan, request, stop_requested);
  const bool complete = interrupted() == 0;
  if (!file.empty()) {
    write_file(file, json_text(loops_json(plan, request, pairs, Subcommand::command_line, started, complete)));
  }
  if (file != "-") fmt::print("{}", loops_text(plan, request, pairs));
  if (!complete) fmt::print(stderr, "zerotax: interrupted: showing only what was finished\n");
  for (const LoopPair& pair : pairs) {
    if (pair.audit.status != PointStatus::kSkipped && !is_healthy(pair.audit)) return ExitStatus::kFinding;
  }
  return ExitStatus::kDone;
}

const Subcommand command(
    "loop", "run a loop of calloc beside one of malloc: total time, CPU seconds, context switches", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      options->measure.add_allocators(arguments);
      add_sizes(arguments, options->measure.sizes, "100MiB and 1000MiB");
      add_ops(arguments, options->ops).with_default();
      arguments.formerly("--calls", "--ops");
      arguments
          .option("--seconds", options->seconds,
                  "how long a loop may take; the total of a longer one is estimated from the calls it made")
          .shown_as("SECONDS")
          .with_default();
      add_touch(arguments, options->touch);
      add_json(arguments, options->measure.json);
      return [options] { return run(*options); };
    });

}  // namespace
}  // namespace zerotax::loop
