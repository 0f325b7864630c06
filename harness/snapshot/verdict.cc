#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "snapshot/document.h"

namespace zerotax::snapshot {
namespace {

/// Those of the first allocator that took a snapshot and were measured beside none.
std::vector<const Json*> compared(const Json& results) {
  std::vector<const Json*> found;
  for (const Json& result : results) {
    if (result.at("allocator") == results.front().at("allocator") && result.at("status") == "ok" &&
        !is_not_available(result.at("checked_elements")) && !is_not_available(result.at("slowdown"))) {
      found.push_back(&result);
    }
  }
  return found;
}

}  // namespace

void add_verdict(Json& snapshot) {
  const std::vector<const Json*> found = compared(snapshot.at("results"));
  if (found.size() < 2) {
    snapshot["sentence"] = not_available("fewer than two alternatives were measured beside none");
    return;
  }
  const auto [best, worst] = std::minmax_element(found.begin(), found.end(), [](const Json* one, const Json* other) {
    return one->at("slowdown") < other->at("slowdown");
  });
  const auto with = [](const Json& result) { return result.at("alternative").get<std::string>(); };
  snapshot["sentence"] =
      fmt::format("A snapshot of {} under writers: they need {} times as long with {}, {} times with {}.",
                  format_size(snapshot.at("parameters").at("array_bytes")), format_ratio((*best)->at("slowdown")),
                  with(**best), format_ratio((*worst)->at("slowdown")), with(**worst));
}

}  // namespace zerotax::snapshot
