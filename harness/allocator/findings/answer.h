#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "base/table.h"
#include "findings/findings.h"
#include "findings/summary.h"

namespace zerotax::findings {

/// Returns the answer; the most severe findings come first. `run` is the source of the points, and `notes` are
/// sentences about points without a result.
Answer findings_answer(const std::vector<AllocatorFindings>& all, const std::vector<Point>& points,
                       const std::string& run, const std::vector<std::string>& notes, const Palette& palette = {});

/// Returns the answer with a row for each allocator: the sizes at which it zeroes needlessly, and its worst call.
Answer summary_answer(const Summary& summary);

}  // namespace zerotax::findings
