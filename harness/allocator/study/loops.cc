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
  // A calloc that zeroes nothing differs by noise only. A mapping of its own has a page for its header in either loop.
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
        // The steady state of a few: no known allocator changes after its fifth call.
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

Json cost_json(const LoopCost& cost, const std::string& why_no_cycles) {
  Json json;
  json["wall_s"] = cost.wall_ns / kSecond;
  json["user_s"] = cost.user_ns / kSecond;
  json["kernel_s"] = cost.kernel_ns / kSecond;
  json["faults"] = cost.faults;
  json["voluntary_switches"] = cost.voluntary_switches;
  json["involuntary_switches"] = cost.involuntary_switches;
  json["cycles"] = cost.cycles ? Json(*cost.cycles) : not_available(why_no_cycles);
  return json;
}

Json loop_json(const MeasuredLoop& loop) {
  if (!loop.failure.empty()) return not_available(loop.failure);
  Json json = cost_json(loop.cost, loop.why_no_cycles);
  json["calls_made"] = loop.calls;
  json["estimated"] = loop.estimated;
  return json;
}

std::string why_none(const LoopPair& pair) {
  return pair.with_malloc.failure.empty() ? pair.with_calloc.failure : pair.with_malloc.failure;
}

std::string why_no_cycles(const LoopPair& pair) {
  return pair.with_malloc.why_no_cycles.empty() ? pair.with_calloc.why_no_cycles : pair.with_malloc.why_no_cycles;
}

}  // namespace

Json loops_json(const Plan& plan, const LoopRequest& request, const std::vector<LoopPair>& pairs,
                const std::vector<std::string>& command, const std::string& started, bool complete) {
  Json json;
  json["schema"] = "zerotax.loop/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["state"] = complete ? "complete" : "interrupted";
  json["started"] = started;
  json["command"] = command;
  json["environment"] = describe_environment();
  json["allocators"] = Json::array();
  for (const Allocator& allocator : plan.allocators) json["allocators"].push_back(allocator_json(allocator));
  json["calls"] = request.calls;
  json["touch"] = request.touch;
  json["loops"] = Json::array();
  for (const LoopPair& pair : pairs) {
    const auto zeroing = pair.zeroing();
    const auto share = pair.redundant_share();
    json["loops"].push_back(
        {{"allocator", plan.allocators[pair.allocator].name},
         {"size_bytes", pair.size_bytes},
         {"malloc", loop_json(pair.with_malloc)},
         {"calloc", loop_json(pair.with_calloc)},
         {"zeroed_bytes", to_json(pair.audit[Metric::kZeroedBytes])},
         {"redundant_zeroed_bytes", to_json(pair.audit[Metric::kRedundantZeroedBytes])},
         {"redundant_share", share ? Json(*share) : not_available("what calloc zeroes is not known")},
         {"zeroing", zeroing ? cost_json(*zeroing, why_no_cycles(pair)) : not_available(why_none(pair))}});
  }
  return json;
}

}  // namespace zerotax::study
