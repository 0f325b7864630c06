#include "run/fleet/document.h"

#include "base/fields.h"
#include "point/point_json.h"

namespace zerotax::fleet {

ZEROTAX_FIELDS(HostEntry, schema, environment)
ZEROTAX_FIELDS(JobPlan, schema, kind, token, timed, shards, work)
ZEROTAX_FIELDS(ItemResult, key, host, result, load)

Json control_json(const Point& one, const Point& other, const std::string& host) {
  Json agreed = to_json(one);
  const Json again = to_json(other);
  for (auto& [key, value] : agreed.items()) {
    if (again.contains(key) && again.at(key) == value) continue;
    if (value.is_number() || value.is_string()) value = not_available("not the same when it was measured again");
  }
  agreed["host"] = host;
  return agreed;
}

}  // namespace zerotax::fleet
