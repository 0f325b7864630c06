#pragma once

#include <string>
#include <vector>

#include "exchange/outcome.h"
#include "judge/finding.h"
#include "point/typed_point.h"

namespace zerotax::findings {

/// What one must know besides the findings, a sentence each: how many points have no result, for a point without one
/// triggers no rule, which does not clear the allocator.
std::vector<std::string> findings_notes(const std::vector<Point>& points);

/// What other programs' formats show: an outcome for each finding, one for each rule that found nothing in an
/// allocator, and the number of findings as benchmarks. `run`: where the points are from.
exchange::OutcomeList findings_outcomes(const std::vector<AllocatorFindings>& all, const std::string& run,
                                        std::vector<std::string> notes);

}  // namespace zerotax::findings
