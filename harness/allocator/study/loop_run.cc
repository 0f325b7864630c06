#include "study/loop_run.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/size.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "files/output_paths.h"
#include "os/environment.h"
#include "os/print.h"
#include "os/utc.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/make_plan.h"
#include "study/loop_document.h"
#include "study/loops.h"

namespace zerotax::study {
namespace {

/// More would not fit the counters of a probe.
constexpr std::int64_t kMostCalls = 1'000'000'000;

LoopRequest request_of(const MeasureOptions& options, double seconds) {
  if (options.touches.size() > 1) throw UsageError("--loop has one --touch", "run it once for each");
  LoopRequest request;
  request.seconds = seconds;
  if (options.ops) request.calls = static_cast<std::uint32_t>(*options.ops);
  if (!options.touches.empty()) request.touch = options.touches.front();
  for (const std::string& size : options.sizes) request.sizes.push_back(parse_size(size));
  if (request.sizes.empty()) request.sizes = {100 * kMiB, 1000 * kMiB};
  check_axes({{"calloc_loop", "malloc_loop"}, request.sizes, {request.touch}, {"main"}});
  return request;
}

}  // namespace

ExitStatus run_loop(const MeasureOptions& options, double seconds) {
  options.check(kMostCalls);
  const LoopRequest request = request_of(options, seconds);
  const std::string& file = options.json;
  check_outputs({{"--json", file}}, library_inputs(options.allocators));
  Plan plan;
  // A loop that may take long must not be ended by the limit of a point.
  plan.timeout_s = options.timeout_s + 2 * request.seconds;
  plan.allocators = resolve_allocators(options.allocators, options.env);
  const std::string started = utc_now();
  const std::vector<LoopPair> pairs = run_loops(plan, request);
  const bool complete = !stop_requested();
  if (!file.empty()) {
    write_file(file, json_text(loops_json(plan, request, pairs, Subcommand::command_line, started, complete)));
  }
  if (file != "-") print_lines(stdout, loops_text(plan, request, pairs));
  if (!complete) say_interrupted();
  for (const LoopPair& pair : pairs) {
    if (pair.audit.status != PointStatus::kSkipped && !is_healthy(pair.audit)) return ExitStatus::kFinding;
  }
  return ExitStatus::kDone;
}

}  // namespace zerotax::study
