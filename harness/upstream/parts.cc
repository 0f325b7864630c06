#include "upstream/parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "findings/points.h"

namespace zerotax::upstream {

using findings::size_of;

void say_step(const std::string& what) { fmt::print(stderr, "report: {}\n", what); }

const Json* point_at(const std::vector<Json>& points, const std::string& allocator, std::uint64_t size, double touch,
                     const std::string& thread) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Json& point) {
    return point.at("allocator") == allocator && size_of(point) == size && point.at("touch") == touch &&
           point.at("thread") == thread;
  });
  return found == points.end() ? nullptr : &*found;
}

}  // namespace zerotax::upstream
