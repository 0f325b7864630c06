#include "findings/redundant_calls.h"

#include <fmt/format.h>

#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/points.h"
#include "findings/populating.h"
#include "os/page.h"

namespace zerotax::findings {
namespace {

/// Entries of "modes" of a pass, or one made of the point's own figures.
std::vector<Json> modes_of(const Json& point, const char* pass) {
  if (const auto modes = point.find("modes"); modes != point.end() && modes->contains(pass)) return modes->at(pass);
  Json all{{"ops", 1}};
  for (const char* key : {"redundant_zeroed_bytes", "populated_bytes", "calloc_faults", "calloc_ns", "zeroed_bound"}) {
    if (point.contains(key) && !is_not_available(point.at(key))) all[key] = point.at(key);
  }
  return {all};
}

/// The calls of the timing pass that got memory of the same sort as those of a mode of the audit; nullptr if it saw
/// none.
const Json* twin_of(const std::vector<Json>& timing, std::uint64_t populated, std::uint64_t size, bool fresh) {
  for (const Json& mode : timing) {
    const auto faults = count_in(mode, "calloc_faults");
    if (!faults && timing.size() == 1) return &mode;  // nothing says that it was another
    if (faults && (fresh ? can_have_populated(*faults, populated) : !is_much(*faults * kPageBytes, size))) {
      return &mode;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<std::vector<RedundantCalls>> redundant_calls(const Json& point) {
  const std::uint64_t size = point.at("size_bytes");
  const std::vector<Json> audit = modes_of(point, "audit");
  const std::vector<Json> timing = modes_of(point, "timing");
  std::uint64_t all = 0;
  for (const Json& mode : audit) all += mode.at("ops").get<std::uint64_t>();
  std::vector<RedundantCalls> found;
  for (const Json& mode : audit) {
    const auto redundant = count_in(mode, "redundant_zeroed_bytes");
    if (!redundant) return std::nullopt;
    if (!is_much(*redundant, size)) continue;
    const std::uint64_t populated = count_in(mode, "populated_bytes").value_or(0);
    const bool fresh = is_much(populated, size);
    RedundantCalls calls{fresh ? RedundantKind::kFresh : RedundantKind::kReuse, mode.at("ops"), all,         *redundant,
                         is_upper_bound(mode, "redundant_zeroed_bytes"),        std::nullopt,   std::nullopt};
    if (const Json* twin = twin_of(timing, populated, size, fresh)) {
      calls.calloc_faults = count_in(*twin, "calloc_faults");
      calls.calloc_ns = figure_in(*twin, "calloc_ns");
    }
    found.push_back(calls);
  }
  return found;
}

std::string which_calls(const RedundantCalls& calls) {
  return calls.every() ? "each calloc" : fmt::format("{} of {} callocs", calls.ops, calls.of_ops);
}

std::string redundant_words(const RedundantCalls& calls) {
  return bound_words(calls.at_most) + format_count(calls.redundant_bytes);
}

std::string peer_words_of(const FindingSubject& subject, const Json& point, const RedundantCalls& calls) {
  return peer_words(fastest_peer(subject, point, calls.calloc_ns, calloc_ns));
}

}  // namespace zerotax::findings
