#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/table.h"
#include "judge/rule.h"
#include "point/typed_point.h"

namespace zerotax::findings {

/// How many there are of each severity, and the first of the most severe.
std::string findings_sentence(const std::vector<AllocatorFindings>& all);

/// "3 findings: 1 high, 2 low", or "no findings".
std::string findings_count(const std::vector<AllocatorFindings>& all);
std::size_t number_of(const std::vector<AllocatorFindings>& all);

/// For people: at most 80 columns.
std::string findings_text(const std::vector<AllocatorFindings>& all, const Palette& palette = {});

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names);

/// The object of "zerotax.findings/1" (results/schema/findings.schema.json); `run` is where the points are from.
Json findings_json(const std::vector<AllocatorFindings>& all, const std::string& run);

/// The next step after findings, as a command to paste: a bug report of the first of those that matter most, by the
/// words under which its allocator was measured. Empty if no allocator has a finding to report.
std::string next_step(const std::vector<AllocatorFindings>& all, const std::vector<Point>& points);

}  // namespace zerotax::findings
