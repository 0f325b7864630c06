#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "judge/rule.h"

namespace zerotax::findings {

/// The object of "zerotax.findings/1" (results/schema/findings.schema.json); `run` is where the points are from.
Json findings_json(const std::vector<AllocatorFindings>& all, const std::string& run);

}  // namespace zerotax::findings
