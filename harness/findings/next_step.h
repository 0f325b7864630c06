#pragma once

#include <string>
#include <vector>

#include "judge/finding.h"
#include "point/typed_point.h"

namespace zerotax::findings {

/// What goes on from findings, as a command to paste: a bug report of the first of those that matter most, by the words
/// under which its allocator was measured. Empty if no allocator has any that is to be reported.
std::string next_step(const std::vector<AllocatorFindings>& all, const std::vector<Point>& points);

}  // namespace zerotax::findings
