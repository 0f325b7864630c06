#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "base/one_line.h"
#include "base/size.h"
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

/// "./server --fast", "process 4711". Of a long command line the beginning.
std::string watched_words(const Json& cow) {
  const auto command = cow.at("command").get<std::vector<std::string>>();
  if (command.empty()) return fmt::format("process {}", cow.at("pid").get<int>());
  return first_characters(fmt::format("{}", fmt::join(command, " ")), 160);
}

/// What one has to know to read the counts.
Json notes_of(const Json& cow) {
  Json notes = Json::array();
  notes.push_back(fmt::format("{}; counted: {}; by {}. Faults per interval of {:g} s; the last one may be shorter.",
                              watched_words(cow), cow.at("counted").get<std::string>(),
                              cow.at("method").get<std::string>(), cow.at("interval_s").get<double>()));
  const auto lost = cow.at("totals").at("lost").get<std::uint64_t>();
  if (lost > 0) {
    notes.push_back(
        fmt::format("{} {} lost: the counts are too low.", format_counted(lost, "event"), lost == 1 ? "was" : "were"));
  }
  return notes;
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
  cow["notes"] = notes_of(cow);
}

std::string next_step(const Json& cow) {
  const auto bytes = cow.at("totals").at("copied_bytes").get<std::uint64_t>();
  // Every fork copies a few pages; below a MiB nobody looks for another way.
  if (bytes < kMiB) return "";
  return fmt::format("zerotax snapshot --size {}MiB", std::bit_ceil(bytes) / kMiB);
}

}  // namespace zerotax::cow
