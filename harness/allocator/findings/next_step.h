#pragma once

#include <string>
#include <vector>

#include "judge/finding.h"
#include "point/typed_point.h"

namespace zerotax::findings {

/// The next step after findings, as a command to paste: a bug report of the first of those that matter most, by the
/// words under which its allocator was measured. Empty if no allocator has a finding to report.
std::string next_step(const std::vector<AllocatorFindings>& all, const std::vector<Point>& points);

}  // namespace zerotax::findings
