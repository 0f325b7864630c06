#include "cow/sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/lines.h"
#include "base/table.h"
#include "base/units.h"
#include "cow/result.h"

namespace zerotax::cow {
namespace {

constexpr std::size_t kMostRows = 12;

/// Sums over children that are alive at the end of an interval, and whose sharing is known.
struct ChildrenSharing {
  std::size_t children = 0;
  std::uint64_t shared = 0;
  std::uint64_t inherited = 0;  ///< 0 if zerotax did not watch the forks
  std::uint64_t copied = 0;
  std::uint64_t zeroed = 0;
};

/// Returns the sums over the children whose forks zerotax watched. Without such children, returns the sums over all
/// children that share memory.
ChildrenSharing children_of(const Interval& interval) {
  ChildrenSharing forked;
  ChildrenSharing others;
  for (const IntervalProcess& process : interval.processes) {
    const Sharing sharing = process.sharing.value_or(Sharing{});
    const bool known = process.child && process.rss_bytes && sharing.shared_bytes;
    if (!known || (!sharing.inherited_bytes && *sharing.shared_bytes == 0)) continue;
    ChildrenSharing& sum = sharing.inherited_bytes ? forked : others;
    ++sum.children;
    sum.shared += *sharing.shared_bytes;
    sum.inherited += sharing.inherited_bytes.value_or(0);
    sum.copied += sharing.copied_bytes.value_or(0);
    sum.zeroed += sharing.zeroed_bytes.value_or(0);
  }
  return forked.children != 0 ? forked : others;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole != 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Returns the share of the inherited memory that is still shared, at most 1. A child also shares newer pages with its
/// own children.
std::optional<double> shared_part(const ChildrenSharing& sum) {
  if (sum.inherited == 0) return std::nullopt;
  return std::min(1.0, share(sum.shared, sum.inherited));
}

}  // namespace

Sharing sharing_of(const FaultInterval::Process& process) {
  constexpr const char* kEnded = "the process had ended when the interval ended, or belongs to another user";
  const bool alive = process.memory.rss.has_value();
  return {{process.sharing.shared, alive ? "not read at that moment, or the pagemap may not be read" : kEnded},
          {process.sharing.inherited,
           alive ? "not forked while zerotax watched, or executed another program since its fork" : kEnded},
          known_if(alive, process.sharing.copied, kEnded),
          known_if(alive, process.sharing.zeroed, kEnded)};
}

Measured<SharedPss> pss_of(const FaultInterval& interval) {
  SharedPss all;
  std::uint64_t copied = 0;
  for (const auto& [pid, process] : interval.processes) {
    if (!process.memory.rss) continue;
    if (!process.memory.pss) return NotAvailable{"the PSS of a process was not read at that moment"};
    all.pss_bytes += *process.memory.pss;
    copied += process.sharing.copied;
  }
  if (!interval.whole) return NotAvailable{"a process had just started, or is not watched"};
  if (all.pss_bytes == 0) return NotAvailable{"no process was alive when the interval ended"};
  all.uncopied_bytes = all.pss_bytes - std::min(all.pss_bytes, copied);
  return all;
}

std::string sharing_sentence(const Cow& cow) {
  for (const auto& interval : std::views::reverse(cow.intervals)) {
    const ChildrenSharing sum = children_of(interval);
    if (sum.children == 0) continue;
    const bool one = sum.children == 1;
    const std::string who =
        one ? "the child still shares" : fmt::format("the {} children still share", format_count(sum.children));
    const std::optional<double> part = shared_part(sum);
    if (!part) return fmt::format("After {:.3g} s, {} {}.", interval.to_s, who, format_size(sum.shared));
    return fmt::format("After {:.3g} s, {} {} of the {} from {}.", interval.to_s, who, format_percent(*part),
                       format_size(sum.inherited), one ? "its fork" : "their forks");
  }
  return "";
}

std::string sharing_table(const Cow& cow) {
  std::vector<const Interval*> known;
  for (const Interval& interval : cow.intervals) {
    if (children_of(interval).children != 0) known.push_back(&interval);
  }
  if (known.empty()) return "";
  Table table({{"s", Unit::kNumber, 7},
               {"children", Unit::kCount, 9},
               {"still shared", Unit::kPercent, 13},
               {"shared", Unit::kBytes, 10},
               {"copied", Unit::kBytes, 10},
               {"zero-filled", Unit::kBytes, 12},
               {"PSS of all", Unit::kBytes, 11}});
  const std::size_t step = (known.size() + kMostRows - 1) / kMostRows;
  for (std::size_t i = (known.size() - 1) % step; i < known.size(); i += step) {
    const ChildrenSharing sum = children_of(*known[i]);
    const Measured<SharedPss>& pss = known[i]->pss;
    const std::optional<double> part = shared_part(sum);
    table.add({known[i]->to_s, sum.children, part ? Cell(*part) : Cell::not_available(), sum.shared, sum.copied,
               sum.zeroed, pss ? Cell(pss->pss_bytes) : Cell::not_available()});
  }
  std::string text = "\nmemory of the children, at the end of intervals\n" + table.text();
  if (const Measured<SharedPss>& pss = known.back()->pss) {
    const bool bounded = cow.method == Method::kTracepoints && !cow.sampling;
    text += wrap(fmt::format("Without copies, the PSS of all would be {} {} in the last row.",
                             bounded ? "at least" : "about", format_size(pss->uncopied_bytes)));
  }
  return text;
}

std::string writer_label(const Writing& writing) {
  std::string name = word(writing.writer);
  if (writing.writer != Writer::kUnknown) return name;
  return name + (writing.module ? " of " + *writing.module : " that is in no file");
}

std::string writers_sentence(const Cow& cow) {
  constexpr const char* kCauses[] = {"The garbage collector",   "Changes of reference counts",
                                     "The allocator",           "Stores to stacks",
                                     "Stores to data of files", "System calls",
                                     "The program itself",      ""};
  if (!cow.writers || cow.writers->empty() || cow.totals.copies == 0) return "";
  std::uint64_t by_children = 0;
  for (const Writing& each : *cow.writers) by_children += each.by_children;
  // A program copies pages of files when it starts, so the side that copied more is the interesting one.
  const bool of_children = 2 * by_children >= cow.totals.copies;
  const auto part = of_children ? &Writing::by_children : &Writing::copies;
  const Writing& most = *std::max_element(cow.writers->begin(), cow.writers->end(),
                                          [&](const auto& one, const auto& other) { return one.*part < other.*part; });
  const std::string cause = most.writer == Writer::kUnknown ? "Unknown code" + writer_label(most).substr(12)
                                                            : kCauses[static_cast<std::size_t>(most.writer)];
  return fmt::format("{} caused {} of the {}copies.", cause,
                     format_percent(share(most.*part, of_children ? by_children : cow.totals.copies)),
                     of_children ? "children's " : "");
}

bool is_copied_by_runtime(const Cow& cow) {
  if (!cow.writers) return false;
  std::uint64_t copies = 0;
  for (const Writing& each : *cow.writers) {
    if (each.writer == Writer::kCollector || each.writer == Writer::kReferenceCounts) copies += each.copies;
  }
  return copies != 0 && 2 * copies >= cow.totals.copies;
}

std::string writers_table(const Cow& cow) {
  if (!cow.writers || cow.writers->empty()) return "";
  Table table({{"copies", Unit::kCount, 9},
               {"by children", Unit::kCount, 12},
               {"copied", Unit::kBytes, 10},
               {"writer", Unit::kText, 0, "", {}, 2}});
  for (const Writing& each : *cow.writers) {
    table.add({each.copies, each.by_children, each.copied_bytes, writer_label(each)});
  }
  return "\n" + table.text();
}

}  // namespace zerotax::cow
