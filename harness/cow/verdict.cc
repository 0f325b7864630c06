#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "cow/document.h"

namespace zerotax::cow {
namespace {

std::uint64_t copies_of(const Json& intervals, bool child) {
  std::uint64_t copies = 0;
  for (const Json& interval : intervals) {
    for (const Json& process : interval.at("processes")) {
      if (process.at("child") == child) copies += process.at("counts").at("copies").get<std::uint64_t>();
    }
  }
  return copies;
}

bool has_children(const Json& intervals) {
  return std::any_of(intervals.begin(), intervals.end(), [](const Json& interval) {
    const Json& processes = interval.at("processes");
    return std::any_of(processes.begin(), processes.end(),
                       [](const Json& process) { return process.at("child") == true; });
  });
}

}  // namespace

void add_verdict(Json& cow) {
  const Json& intervals = cow.at("intervals");
  const std::uint64_t parent = copies_of(intervals, false);
  const std::uint64_t children = copies_of(intervals, true);
  std::string text = fmt::format("{} copied ({})", format_counted(parent + children, "page"),
                                 format_size(cow.at("totals").at("copied_bytes")));
  if (has_children(intervals)) {
    text += fmt::format(": {} by the parent, {} by its children", format_count(parent), format_count(children));
  }
  cow["sentence"] = text + ".";
}

}  // namespace zerotax::cow
