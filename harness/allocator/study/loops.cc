#include "study/loops.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "os/environment.h"
#include "os/page.h"
#include "point/point_document.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "run/point_run.h"

namespace zerotax::study {
namespace {

LoopCost cost_of(const Loop& found, double scale) {
  const auto scaled = [&](std::int64_t number) { return static_cast<double>(number) * scale; };
  LoopCost cost{scaled(found.wall_ns),
                scaled(found.user_ns),
                scaled(found.kernel_ns),
                scaled(found.faults),
                scaled(found.voluntary_switches),
                scaled(found.involuntary_switches)};
  if (found.cycles != kNotMeasured) cost.cycles = scaled(found.cycles);
  return cost;
}

MeasuredLoop measure(const Allocator& allocator, const PointSpec& point, double timeout_s) {
  MeasuredLoop measured;
  measured.failure = why_too_large(memory_needed(point));
  if (!measured.failure.empty()) return measured;
  const PassResult pass = run_pass(allocator, point, Pass::kLoop, limits_of(point, timeout_s));
  end_if_stopped();
  if (pass.status() != PassResult::Status::kOk || pass.ops() == 0) {
    measured.failure = pass.reason().empty() ? "no call was made" : pass.reason();
    return measured;
  }
  const Loop& found = pass.samples().loop;
  measured.calls = static_cast<std::uint64_t>(found.ops);
  measured.estimated = measured.calls < point.repeats.ops;
  measured.cost = cost_of(found, static_cast<double>(point.repeats.ops) / static_cast<double>(found.ops));
  measured.why_no_cycles = &pass.samples().na_cycles[0];
  return measured;
}

double beyond(double one, double other) { return std::max(one - other, 0.0); }

}  // namespace

std::optional<LoopCost> LoopPair::zeroing() const {
  if (!with_malloc.failure.empty() || !with_calloc.failure.empty()) return std::nullopt;
  // If calloc zeroes nothing, the loops differ only by noise. In both loops, a block with a separate mapping populates
  // one page for the allocator's header.
  const auto populated = audit.count(Metric::kPopulatedBytes);
  if (audit.evident_count(Metric::kZeroedBytes) == 0 && populated && *populated < 2 * audit.page_bytes()) {
    LoopCost nothing;
    if (with_calloc.cost.cycles) nothing.cycles = 0;
    return nothing;
  }
  const LoopCost& one = with_calloc.cost;
  const LoopCost& other = with_malloc.cost;
  LoopCost cost{beyond(one.wall_ns, other.wall_ns),
                beyond(one.user_ns, other.user_ns),
                beyond(one.kernel_ns, other.kernel_ns),
                beyond(one.faults, other.faults),
                beyond(one.voluntary_switches, other.voluntary_switches),
                beyond(one.involuntary_switches, other.involuntary_switches)};
  if (one.cycles && other.cycles) cost.cycles = beyond(*one.cycles, *other.cycles);
  return cost;
}

std::optional<double> LoopPair::redundant_share() const {
  const auto zeroed = audit.evident_count(Metric::kZeroedBytes);
  const auto redundant = audit.evident_count(Metric::kRedundantZeroedBytes);
  if (!zeroed || !redundant) return std::nullopt;
  return *zeroed == 0 ? 0 : static_cast<double>(*redundant) / static_cast<double>(*zeroed);
}

std::vector<LoopPair> run_loops(const Plan& plan, const LoopRequest& request) {
  std::vector<LoopPair> pairs;
  const Repeats repeats{request.calls, 1, 8, 8, static_cast<std::int64_t>(request.seconds * 1000)};
  std::vector<Item> items;
  for (const std::uint64_t size : request.sizes) {
    for (std::size_t i = 0; i < plan.allocators.size(); ++i) {
      Item& item = items.emplace_back();
      item.label = fmt::format("{} at {}", plan.allocators[i].name, format_size(size));
      item.memory_bytes = size;
      item.measure = [&, size, i](const Say&) {
        LoopPair pair;
        pair.allocator = i;
        pair.size_bytes = size;
        PointSpec point{i, "malloc_loop", size, request.touch, "main", repeats};
        pair.with_malloc = measure(plan.allocators[i], point, plan.timeout_s);
        point.case_name = "calloc_loop";
        pair.with_calloc = measure(plan.allocators[i], point, plan.timeout_s);
        // Eight calls reach the steady state, because no known allocator changes its behavior after its fifth call.
        point.repeats = {8, 8, 8, 8, 0};
        pair.audit = audit_point(plan, point);
        pairs.push_back(std::move(pair));
      };
    }
  }
  static_cast<void>(Experiment("running loops", {0, true, {}}).run(items));
  return pairs;
}

namespace {

constexpr double kSecond = 1e9;

CostEntry entry_of(const LoopCost& cost, const std::string& why_no_cycles) {
  return {cost.wall_ns / kSecond,  cost.user_ns / kSecond,    cost.kernel_ns / kSecond,    cost.faults,
          cost.voluntary_switches, cost.involuntary_switches, {cost.cycles, why_no_cycles}};
}

Measured<LoopEntry> entry_of(const MeasuredLoop& loop) {
  if (!loop.failure.empty()) return NotAvailable{loop.failure};
  return LoopEntry{entry_of(loop.cost, loop.why_no_cycles), loop.calls, loop.estimated};
}

std::string why_none(const LoopPair& pair) {
  return pair.with_malloc.failure.empty() ? pair.with_calloc.failure : pair.with_malloc.failure;
}

std::string why_no_cycles(const LoopPair& pair) {
  return pair.with_malloc.why_no_cycles.empty() ? pair.with_calloc.why_no_cycles : pair.with_malloc.why_no_cycles;
}

Measured<CostEntry> cost_of_zeroing(const LoopPair& pair) {
  const auto zeroing = pair.zeroing();
  if (!zeroing) return NotAvailable{why_none(pair)};
  return entry_of(*zeroing, why_no_cycles(pair));
}

}  // namespace

Json loops_json(const Plan& plan, const LoopRequest& request, const std::vector<LoopPair>& pairs,
                const std::vector<std::string>& command, const std::string& started, bool complete) {
  LoopDocument document{{"zerotax.loop/1", ZEROTAX_VERSION, started, command, describe_environment()}};
  document.state = completion(complete);
  for (const Allocator& allocator : plan.allocators) document.allocators.push_back(allocator_json(allocator));
  document.calls = request.calls;
  document.touch = request.touch;
  for (const LoopPair& pair : pairs) {
    document.loops.push_back({plan.allocators[pair.allocator].name,
                              pair.size_bytes,
                              entry_of(pair.with_malloc),
                              entry_of(pair.with_calloc),
                              to_json(pair.audit[Metric::kZeroedBytes]),
                              to_json(pair.audit[Metric::kRedundantZeroedBytes]),
                              {pair.redundant_share(), "the zeroing of calloc is unknown"},
                              cost_of_zeroing(pair)});
  }
  return document;
}

}  // namespace zerotax::study
