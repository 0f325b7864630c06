#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/size.h"
#include "base/units.h"
#include "findings/findings.h"
#include "findings/summary.h"
#include "findings/summary_words.h"
#include "judge/points.h"
#include "judge/tax.h"
#include "os/page.h"

namespace zerotax::findings {
namespace {

constexpr std::size_t kMostNames = 3;   ///< in a title, as long as
constexpr std::size_t kMostChars = 40;  ///< they are no longer than this together

/// The subject of a title: the points of one size and touched fraction.
struct MeasuredAt {
  double touch;
  std::uint64_t size_bytes;
};

using Ranked = std::vector<std::pair<double, std::string>>;

/// What the figures call the line of a point: "glibc", "jemalloc [A=1] (worker)".
std::string line_name(const Verdicts& verdicts, const PointTax& point) {
  const auto& allocator = verdicts.allocators[point.allocator];
  return allocator.name + (point.thread == "worker" ? " (worker)" : "") + allocator.build;
}

bool is_loop(const PointTax& point) { return point.case_name == "calloc_loop"; }

std::optional<double> least_touch(const Verdicts& verdicts) {
  std::optional<double> least;
  for (const PointTax& point : verdicts.points) {
    if (is_loop(point) && (!least || point.touch < *least)) least = point.touch;
  }
  return least;
}

/// The largest size at which two lines or more were measured with the least touched.
std::optional<MeasuredAt> largest_shared(const Verdicts& verdicts) {
  const auto touch = least_touch(verdicts);
  std::map<std::uint64_t, int> lines;
  for (const PointTax& point : verdicts.points) {
    if (is_loop(point) && point.is_ok() && point.touch == touch) ++lines[point.size_bytes];
  }
  std::optional<MeasuredAt> largest;
  for (const auto& [size, count] : lines) {
    if (count > 1) largest = MeasuredAt{*touch, size};
  }
  return largest;
}

/// "an untouched calloc of 1 GiB".
std::string calloc_words(const MeasuredAt& place) {
  return fmt::format("{} calloc of {}", place.touch == 0 ? "an untouched" : "a", format_size(place.size_bytes));
}

/// The names while a title has room for them, else how many of how many.
std::string names_or_count(const std::vector<std::string>& names, std::size_t of) {
  std::size_t chars = 0;
  for (const std::string& name : names) chars += name.size();
  if (names.size() <= kMostNames && chars <= kMostChars) return listed(names);
  return names.size() < of ? fmt::format("{} of {}", names.size(), of) : fmt::format("all {}", of);
}

/// A title, or why there is none.
using Title = Measured<std::string>;

/// The times of one calloc of the lines at a place, least first.
Ranked ranked_at(const Verdicts& verdicts, const MeasuredAt& place) {
  Ranked ranked;
  for (const PointTax& point : verdicts.points) {
    if (!is_loop(point) || point.touch != place.touch || point.size_bytes != place.size_bytes) continue;
    if (point.calloc_ns) ranked.emplace_back(std::max(*point.calloc_ns, kLeastNs), line_name(verdicts, point));
  }
  std::sort(ranked.begin(), ranked.end());
  return ranked;
}

/// "An untouched calloc of 1 GiB takes 150 ns with largecache, 537 ms with mimalloc".
std::string times_title(const MeasuredAt& place, const Ranked& ranked) {
  std::string text =
      fmt::format("{} takes {} with {}", calloc_words(place), format_ns(ranked.front().first), ranked.front().second);
  text[0] = 'A';
  if (ranked.size() > 1) text += fmt::format(", {} with {}", format_ns(ranked.back().first), ranked.back().second);
  return text;
}

Title headline_title(const Verdicts& verdicts) {
  if (const auto touch = least_touch(verdicts)) {
    for (const std::uint64_t size : {kHeadlineSizes[1], kHeadlineSizes[0]}) {
      const Ranked ranked = ranked_at(verdicts, {*touch, size});
      if (!ranked.empty()) return times_title({*touch, size}, ranked);
    }
  }
  return NotAvailable{"no calloc of 100 MiB or 1000 MiB has a time"};
}

Title time_title(const Verdicts& verdicts) {
  if (const auto place = largest_shared(verdicts)) {
    const Ranked ranked = ranked_at(verdicts, *place);
    if (ranked.size() > 1) return times_title(*place, ranked);
  }
  return NotAvailable{"no two lines have a time at the same size"};
}

/// Whose calloc does something to a block that nobody touches: "In an untouched calloc of 1 GiB, …".
Title doers_title(const Verdicts& verdicts, const char* where, const std::function<Answer(const PointTax&)>& does,
                  const char* one, const char* several) {
  const auto place = largest_shared(verdicts);
  if (!place || place->touch != 0) return NotAvailable{"no two lines were measured at the same size with touch 0"};
  std::map<std::string, bool> lines;  // by name, as figures list them
  for (const PointTax& point : verdicts.points) {
    if (!is_loop(point) || point.touch != 0 || point.size_bytes != place->size_bytes) continue;
    const Answer answer = does(point);
    if (answer != Answer::kUnknown) lines[line_name(verdicts, point)] = answer == Answer::kYes;
  }
  std::vector<std::string> names;
  for (const auto& [name, yes] : lines) {
    if (yes) names.push_back(name);
  }
  if (names.empty()) return NotAvailable{"no allocator does"};
  return fmt::format("{} {}, {} {}", where, calloc_words(*place), names_or_count(names, lines.size()),
                     names.size() == 1 ? one : several);
}

/// A fault on each page, but for next to none of them: some allocators keep a header of their own in there.
Answer faults_in_every_page(const PointTax& point) {
  if (!point.calloc_faults) return Answer::kUnknown;
  const std::uint64_t pages = point.size_bytes / point.page_bytes;
  const std::uint64_t without = pages - std::min(pages, *point.calloc_faults);
  return pages > 0 && is_little(without, pages) ? Answer::kYes : Answer::kNo;
}

Title fork_title(const Verdicts& verdicts) {
  std::map<std::uint64_t, Ranked> sizes;
  for (const PointTax& point : verdicts.points) {
    if (point.case_name != "fork_after_calloc" || point.touch != 0 || !point.fork_ns) continue;
    sizes[point.size_bytes].emplace_back(*point.fork_ns, line_name(verdicts, point));
  }
  if (sizes.empty() || sizes.rbegin()->second.size() < 2)
    return NotAvailable{"no two lines forked with the same block"};
  auto& [size, ranked] = *sizes.rbegin();
  std::sort(ranked.begin(), ranked.end());
  return fmt::format("With {} from calloc that nobody wrote, fork takes {} under {}, {} under {}", format_size(size),
                     format_ns(ranked.front().first), ranked.front().second, format_ns(ranked.back().first),
                     ranked.back().second);
}

Title receiving_title(const Verdicts& verdicts) {
  const auto apart = rates_apart(verdicts);
  if (!apart) return NotAvailable{"no two allocators received into buffers of the same size"};
  return fmt::format("Received into buffers of {}: {} MB/s with {}, {} MB/s with {}",
                     format_given_size(apart->most->size_bytes), format_number(apart->high),
                     line_name(verdicts, *apart->most), format_number(apart->low), line_name(verdicts, *apart->least));
}

}  // namespace

std::vector<std::pair<const char*, Measured<std::string>>> figure_titles(const Verdicts& verdicts) {
  const auto redundant = [](const PointTax& point) { return point.redundant(); };
  return {
      {"headline", headline_title(verdicts)},
      {"time_vs_size", time_title(verdicts)},
      {"faults_vs_size",
       doers_title(verdicts, "Inside", faults_in_every_page, "faults in every page", "fault in every page")},
      {"zeroed_vs_size", doers_title(verdicts, "In", redundant, "writes zeros over zeros", "write zeros over zeros")},
      {"fork_after_calloc", fork_title(verdicts)},
      {"recv_buffer", receiving_title(verdicts)}};
}

}  // namespace zerotax::findings
