#include "study/loop_run.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/one_line.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "os/print.h"
#include "os/utc.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "study/loops.h"

namespace zerotax::study {
namespace {

std::string time_of(const MeasuredLoop& loop) {
  if (!loop.failure.empty()) return "n/a";
  return (loop.estimated ? "~" : "") + format_ns(loop.cost.wall_ns);
}

/// At most nine characters.
std::string count_of(double count) { return format_number(std::round(count)); }

std::string row(const std::string& name, const LoopPair& pair) {
  const auto zeroed = pair.audit.evident_count(Metric::kZeroedBytes);
  std::string text =
      fmt::format("{:<16}{:>10}{:>11}{:>13}", first_characters(printable(name), 16), time_of(pair.with_malloc),
                  time_of(pair.with_calloc), zeroed ? format_size(*zeroed) : "n/a");
  const auto zeroing = pair.zeroing();
  if (!zeroing) return text + "\n";
  return text + fmt::format("{:>10}{:>10}{:>10}\n", format_ns(zeroing->cpu_ns()), count_of(zeroing->switches()),
                            count_of(zeroing->faults));
}

/// What zeroing that nobody needs costs, for each allocator that has such.
std::string words(const std::string& name, const LoopRequest& request, const LoopPair& pair) {
  const auto zeroing = pair.zeroing();
  const double share = pair.redundant_share().value_or(0);
  if (!zeroing || share <= 0) return "";
  const bool estimated = pair.with_calloc.estimated || pair.with_malloc.estimated;
  return wrap(
      fmt::format(
          "{}: redundant zeroing costs {}{} of CPU time (user {}, kernel {}), {} and {} in {}; {} of what calloc "
          "zeroes is zero already.{}",
          name, estimated ? "about " : "", format_ns(share * zeroing->cpu_ns()), format_ns(share * zeroing->user_ns),
          format_ns(share * zeroing->kernel_ns),
          format_counted(static_cast<std::uint64_t>(std::llround(share * zeroing->switches())), "context switch",
                         "context switches"),
          format_counted(static_cast<std::uint64_t>(std::llround(share * zeroing->faults)), "page fault"),
          format_counted(request.calls, "call"), format_whole_percent(share),
          zeroing->cycles ? fmt::format(" Cycles: {}.", format_number(share * *zeroing->cycles)) : ""),
      "", "  ");
}

/// Each reason once: what is missing is mostly missing for all.
std::string reasons(const Plan& plan, const std::vector<LoopPair>& pairs) {
  std::set<std::string> lines;
  for (const LoopPair& pair : pairs) {
    const std::string& name = plan.allocators[pair.allocator].name;
    for (const auto& [what, loop] : {std::pair{"malloc", &pair.with_malloc}, {"calloc", &pair.with_calloc}}) {
      if (!loop->failure.empty()) {
        lines.insert(
            wrap(fmt::format("{} {} {}: {}", name, what, format_size(pair.size_bytes), loop->failure), "", "  "));
      }
      if (!loop->why_no_cycles.empty()) lines.insert(wrap("cycles: n/a: " + loop->why_no_cycles, "", "  "));
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace

std::string loops_text(const Plan& plan, const LoopRequest& request, const std::vector<LoopPair>& pairs) {
  std::string text;
  for (std::size_t first = 0; first < pairs.size();) {
    std::size_t end = first;
    while (end < pairs.size() && pairs[end].size_bytes == pairs[first].size_bytes) ++end;
    text += fmt::format(
        "{} of {}, {}\n", format_counted(request.calls, "allocation"), format_size(pairs[first].size_bytes),
        request.touch > 0 ? format_whole_percent(request.touch) + " of the pages written" : "nothing written");
    text += fmt::format("{:<16}{:>10}{:>11}{:>13}{:>10}{:>10}{:>10}\n", "", "malloc", "calloc", "zeros",
                        "zeroing:", "context", "page");
    text += fmt::format("{:<16}{:>10}{:>11}{:>13}{:>10}{:>10}{:>10}\n", "allocator", "in all", "in all", "a calloc",
                        "CPU time", "switches", "faults");
    for (std::size_t i = first; i < end; ++i) text += row(plan.allocators[pairs[i].allocator].name, pairs[i]);
    text += "\n";
    std::string costs;
    for (std::size_t i = first; i < end; ++i)
      costs += words(plan.allocators[pairs[i].allocator].name, request, pairs[i]);
    text += costs + (costs.empty() ? "" : "\n");
    first = end;
  }
  text += wrap(
      fmt::format("Each loop ran for {:g} s at most; ~: its total is estimated from the calls that it made. zeroing: "
                  "calloc's loop minus malloc's.",
                  request.seconds),
      "", "  ");
  return text + reasons(plan, pairs);
}

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
