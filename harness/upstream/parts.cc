#include "upstream/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace zerotax::upstream {

void say_step(const std::string& what) { fmt::print(stderr, "report: {}\n", what); }

std::string case_of(const findings::Finding& finding) {
  return finding.rule == "refill-storm" ? "refill_loop" : "calloc_loop";
}

const Point* point_at(const std::vector<Point>& points, const std::string& allocator, const std::string& case_name,
                      std::uint64_t size, double touch, const std::string& thread) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return point.allocator == allocator && point.case_name == case_name && point.size_bytes == size &&
           point.touch == touch && point.thread == thread;
  });
  return found == points.end() ? nullptr : &*found;
}

}  // namespace zerotax::upstream
