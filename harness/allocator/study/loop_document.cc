#include "study/loop_document.h"

#include <fmt/format.h>

#include "os/environment.h"
#include "point/metric_json.h"

namespace zerotax::study {
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
