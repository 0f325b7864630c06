#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/answer.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/printable.h"
#include "base/shell.h"
#include "base/size.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/print.h"
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

/// Formats a count in at most nine characters.
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

/// Returns the CPU time of redundant zeroing; 0 if there is no redundant zeroing, or if it is unknown.
double redundant_ns(const LoopPair& pair) {
  const auto zeroing = pair.zeroing();
  return zeroing ? pair.redundant_share().value_or(0) * zeroing->cpu_ns() : 0;
}

bool is_estimated(const LoopPair& pair) { return pair.with_calloc.estimated || pair.with_malloc.estimated; }

/// Returns the cost of redundant zeroing; empty if there is no redundant zeroing, or if it is unknown.
std::string words(const std::string& name, const LoopRequest& request, const LoopPair& pair) {
  const auto zeroing = pair.zeroing();
  const double share = pair.redundant_share().value_or(0);
  if (!zeroing || share <= 0) return "";
  return fmt::format(
      "{}: redundant zeroing costs {}{} of CPU time (user {}, kernel {}), {} and {} in {}; {} of what calloc "
      "zeroes is zero already.{}",
      name, is_estimated(pair) ? "about " : "", format_ns(redundant_ns(pair)), format_ns(share * zeroing->user_ns),
      format_ns(share * zeroing->kernel_ns),
      format_counted(static_cast<std::uint64_t>(std::llround(share * zeroing->switches())), "context switch",
                     "context switches"),
      format_counted(static_cast<std::uint64_t>(std::llround(share * zeroing->faults)), "page fault"),
      format_counted(request.calls, "call"), format_whole_percent(share),
      zeroing->cycles ? fmt::format(" Cycles: {}.", format_number(share * *zeroing->cycles)) : "");
}

/// Returns a line with the reason for each loop without a result.
std::set<std::string> failures(const Plan& plan, const std::vector<LoopPair>& pairs) {
  std::set<std::string> lines;
  for (const LoopPair& pair : pairs) {
    for (const auto& [what, loop] : {std::pair{"malloc", &pair.with_malloc}, {"calloc", &pair.with_calloc}}) {
      if (loop->failure.empty()) continue;
      lines.insert(fmt::format("{} {} {}: {}", plan.allocators[pair.allocator].name, what, format_size(pair.size_bytes),
                               loop->failure));
    }
  }
  return lines;
}

/// Returns each reason for a missing loop or cycle count once, because most reasons apply to all loops.
std::set<std::string> reasons(const Plan& plan, const std::vector<LoopPair>& pairs) {
  std::set<std::string> lines = failures(plan, pairs);
  for (const LoopPair& pair : pairs) {
    for (const MeasuredLoop* loop : {&pair.with_malloc, &pair.with_calloc}) {
      if (!loop->why_no_cycles.empty()) lines.insert("cycles: n/a: " + loop->why_no_cycles);
    }
  }
  return lines;
}

std::string wrapped(const std::string& text) { return text.empty() ? text : wrap(text, "", "  "); }

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
      costs += wrapped(words(plan.allocators[pairs[i].allocator].name, request, pairs[i]));
    text += costs + (costs.empty() ? "" : "\n");
    first = end;
  }
  text += wrap(
      fmt::format("Each loop ran for {:g} s at most; ~: its total is estimated from the calls that it made. zeroing: "
                  "calloc's loop minus malloc's.",
                  request.seconds),
      "", "  ");
  for (const std::string& reason : reasons(plan, pairs)) text += wrapped(reason);
  return text;
}

namespace {

Table loops_table(const Plan& plan, const std::vector<const LoopPair*>& order) {
  Table table({{"allocator", Unit::kText, 16},
               right_text("size", 8),
               right_text("malloc", 8),
               right_text("calloc", 8),
               right_text("zeroing", 8),
               right_text("needless", 8),
               right_text("faults", 8)});
  for (const LoopPair* pair : order) {
    const auto zeroing = pair->zeroing();
    table.add({first_characters(plan.allocators[pair->allocator].name, 20), format_size(pair->size_bytes),
               time_of(pair->with_malloc), time_of(pair->with_calloc), zeroing ? format_ns(zeroing->cpu_ns()) : "n/a",
               zeroing && pair->redundant_share() ? format_ns(redundant_ns(*pair)) : "n/a",
               zeroing ? count_of(zeroing->faults) : "n/a"});
  }
  return table;
}

/// Returns the answer with the most costly redundant zeroing first.
Answer loops_answer(const Plan& plan, const LoopRequest& request, const std::vector<LoopPair>& pairs) {
  std::vector<const LoopPair*> order;
  order.reserve(pairs.size());
  for (const LoopPair& pair : pairs) order.push_back(&pair);
  std::stable_sort(order.begin(), order.end(),
                   [](auto* one, auto* other) { return redundant_ns(*one) > redundant_ns(*other); });
  if (order.empty()) return {.headline = "No loop finished."};
  const LoopPair& worst = *order.front();
  const std::string& name = plan.allocators[worst.allocator].name;
  const std::string size = format_size(worst.size_bytes);
  Answer answer{.headline = redundant_ns(worst) > 0 ? fmt::format("At {}, {}", size, words(name, request, worst))
                                                    : fmt::format("No redundant zeroing was measured in loops of {}.",
                                                                  format_counted(request.calls, "calloc")),
                .table = loops_table(plan, order)};
  if (redundant_ns(worst) > 0) {
    const std::string preload = plan.allocators[worst.allocator].preload.value_or("");
    answer.steps.push_back(
        {shell_text({"zerotax", "thresholds", "--allocator", preload.empty() ? name : name + "=" + preload}),
         "find the sizes at which that changes:"});
  }
  for (const std::string& failure : failures(plan, pairs)) answer.warnings.push_back(failure + ".");
  answer.legend = fmt::format(
      "Totals of {}{}. zeroing, faults: calloc's loop minus malloc's; needless: CPU time of zeros over zeros.{}",
      format_counted(request.calls, "call"),
      request.touch > 0 ? ", " + format_whole_percent(request.touch) + " of the pages written" : "",
      std::any_of(pairs.begin(), pairs.end(), is_estimated)
          ? fmt::format(" ~: estimated from the calls of {:g} s.", request.seconds)
          : "");
  answer.more = "Context switches, user and kernel time, zeroed bytes";
  return answer;
}

}  // namespace

namespace {

/// Maximum number of calls that a probe's counters can hold.
constexpr std::int64_t kMostCalls = 1'000'000'000;

LoopRequest request_of(const MeasureOptions& options, double seconds) {
  if (options.touches.size() > 1)
    throw UsageError("--loop takes only one --touch", "run the command once for each fraction");
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
  // The time limit of a point must not end a loop, because a loop may take longer.
  plan.timeout_s = options.timeout_s + 2 * request.seconds;
  plan.allocators = resolve_allocators(options.allocators, options.env);
  const std::string started = utc_now();
  const std::vector<LoopPair> pairs = run_loops(plan, request);
  const bool complete = !stop_requested();
  if (!file.empty()) {
    write_file(file, json_text(loops_json(plan, request, pairs, Subcommand::command_line, started, complete)));
  }
  if (file != "-") {
    print_lines(stdout,
                wants_full_text() ? loops_text(plan, request, pairs) : answer_text(loops_answer(plan, request, pairs)));
  }
  if (!complete) say_interrupted();
  for (const LoopPair& pair : pairs) {
    if (pair.audit.status != PointStatus::kSkipped && !is_healthy(pair.audit)) return ExitStatus::kFinding;
  }
  return ExitStatus::kDone;
}

}  // namespace zerotax::study
