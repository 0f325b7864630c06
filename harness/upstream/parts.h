#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/typed_point.h"
#include "findings/finding.h"

namespace zerotax::upstream {

/// What changes with the number of the call does so before the sixth.
inline constexpr Repeats kReportRepeats{20, 8, 8, 8, 300};

/// One line on standard error: which step of a report is being done.
void say_step(const std::string& what);

/// The case that shows a finding.
std::string case_of(const findings::Finding& finding);

/// The point with these keys, or nullptr.
const Point* point_at(const std::vector<Point>& points, const std::string& allocator, const std::string& case_name,
                      std::uint64_t size, double touch, const std::string& thread);

}  // namespace zerotax::upstream
