#include "upstream/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace zerotax::upstream {

void say_step(const std::string& what) { fmt::print(stderr, "report: {}\n", what); }

const Point* point_at(const std::vector<Point>& points, const std::string& allocator, std::uint64_t size, double touch,
                      const std::string& thread) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return point.allocator == allocator && point.size_bytes == size && point.touch == touch && point.thread == thread;
  });
  return found == points.end() ? nullptr : &*found;
}

}  // namespace zerotax::upstream
