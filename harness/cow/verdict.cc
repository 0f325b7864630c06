#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
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

/// Fewer say nothing about when they end: every fork copies some.
constexpr std::uint64_t kFewestCopies = 100;
/// Of the copies: the last ones may come at any time, as when the program ends.
constexpr double kNearlyAll = 0.95;

/// An interval of the one child.
struct ChildInterval {
  double from_s;
  double to_s;
  std::uint64_t copies;
  std::uint64_t zero_fills;
};

/// Of every interval that the child has an entry in. Empty if there are several children, or none.
std::vector<ChildInterval> only_child(const Json& intervals) {
  std::set<std::int64_t> pids;
  std::vector<ChildInterval> found;
  for (const Json& interval : intervals) {
    for (const Json& process : interval.at("processes")) {
      if (process.at("child") != true) continue;
      pids.insert(process.at("pid").get<std::int64_t>());
      const Json& counts = process.at("counts");
      found.push_back({interval.at("from_s"), interval.at("to_s"), counts.at("copies"), counts.at("zero_fills")});
    }
  }
  return pids.size() == 1 ? found : std::vector<ChildInterval>();
}

/// When the copying of a parent's only child ended, and what it got of new memory before and after that: the object
/// "copying_ended" of results/schema/cow.schema.json.
Json copying_end(const Json& intervals) {
  const std::vector<ChildInterval> child = only_child(intervals);
  if (child.empty()) return not_available("there is not exactly one child");
  std::uint64_t all = 0;
  for (const ChildInterval& each : child) all += each.copies;
  if (all < kFewestCopies) return not_available(fmt::format("the child copied fewer than {} pages", kFewestCopies));
  std::uint64_t copies = 0;
  std::uint64_t until = 0;
  std::size_t last = 0;
  for (;; ++last) {
    copies += child[last].copies;
    until += child[last].zero_fills;
    if (static_cast<double>(copies) >= kNearlyAll * static_cast<double>(all)) break;
  }
  // Where most of its life is still to come, it is an end, and no cut.
  if (2 * (last + 1) > child.size()) return not_available("the child copied in most of its intervals");
  std::uint64_t after = 0;
  for (std::size_t i = last + 1; i < child.size(); ++i) after += child[i].zero_fills;
  return {{"at_s", child[last].to_s}, {"child_from_s", child.front().from_s}, {"child_to_s", child.back().to_s},
          {"copies_until", copies},   {"copies_after", all - copies},         {"zero_fills_until", until},
          {"zero_fills_after", after}};
}

std::string copying_end_text(const Json& ended) {
  if (is_not_available(ended)) return "";
  const auto number = [&](const char* key) { return ended.at(key).get<std::uint64_t>(); };
  const auto begin = ended.at("child_from_s").get<double>();
  return fmt::format(
      "; {} of the child's came in the first {:.3g} of its {:.3g} s, in which it got {}, and {} in the rest",
      format_percent(static_cast<double>(number("copies_until")) /
                     static_cast<double>(number("copies_until") + number("copies_after"))),
      ended.at("at_s").get<double>() - begin, ended.at("child_to_s").get<double>() - begin,
      format_counted(number("zero_fills_until"), "page") + " of zeros", format_count(number("zero_fills_after")));
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
  cow["copying_ended"] = copying_end(intervals);
  cow["sentence"] = text + copying_end_text(cow["copying_ended"]) + ".";
  cow["notes"] = notes_of(cow);
}

std::string next_step(const Json& cow) {
  const auto bytes = cow.at("totals").at("copied_bytes").get<std::uint64_t>();
  // Every fork copies a few pages; below a MiB nobody looks for another way.
  if (bytes < kMiB) return "";
  return fmt::format("zerotax snapshot --size {}MiB", std::bit_ceil(bytes) / kMiB);
}

}  // namespace zerotax::cow
