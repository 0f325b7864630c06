#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <vector>

#include "base/lines.h"
#include "base/size.h"
#include "base/units.h"
#include "cow/result.h"
#include "judge/evidence.h"
#include "observe/running_process.h"

namespace zerotax::cow {
namespace {

std::uint64_t copies_of(const std::vector<Interval>& intervals, bool child) {
  std::uint64_t copies = 0;
  for (const Interval& interval : intervals) {
    for (const IntervalProcess& process : interval.processes) {
      if (process.child == child) copies += process.counts.copies;
    }
  }
  return copies;
}

bool has_children(const std::vector<Interval>& intervals) {
  return std::any_of(intervals.begin(), intervals.end(), [](const Interval& interval) {
    return std::any_of(interval.processes.begin(), interval.processes.end(),
                       [](const IntervalProcess& process) { return process.child; });
  });
}

/// The watched program, such as "./server --fast" or "process 4711". A long command line is cut.
std::string watched_words(const Cow& cow) {
  if (cow.command.empty()) return fmt::format("process {}", cow.pid);
  return first_characters(fmt::format("{}", fmt::join(cow.command, " ")), 160);
}

std::vector<std::string> notes_of(const Cow& cow) {
  std::vector<std::string> notes{
      fmt::format("{}; counted: {}; by {}. Faults per interval of {:g} s; the last one may be shorter.",
                  watched_words(cow), cow.counted, word(cow.method), cow.interval_s)};
  const std::uint64_t lost = cow.totals.lost;
  if (lost > 0 && !cow.sampling) {
    notes.push_back(
        fmt::format("{} {} lost: the counts are too low.", format_counted(lost, "event"), lost == 1 ? "was" : "were"));
  }
  if (cow.sampling) {
    notes.push_back(fmt::format("{} faults were recorded one by one: how the others divide is estimated.",
                                format_count(cow.sampling->recorded)));
  }
  if (cow.bounds && cow.bounds->copies.at_most && cow.method == Method::kSoftware) {
    notes.push_back(
        fmt::format("With software events, the number of copies is only a bound, at most {}, because "
                    "dropped pages count as copied.",
                    known_text(cow.bounds->copies.at_most)));
  }
  for (const Unwatched& each : cow.unwatched.value_or(std::vector<Unwatched>{})) {
    notes.push_back(unwatched_text(each) + ".");
  }
  if (cow.running) notes.push_back(runs_on(*cow.running));
  if (misses_copies_in_fork(cow)) notes.emplace_back(kCopiedByFork);
  return notes;
}

/// With fewer copies, the end of copying cannot be determined, because every fork copies some pages.
constexpr std::uint64_t kFewestCopies = 100;
/// Share of the copies after which copying has ended. The last copies may come at any time, for example when the
/// program ends.
constexpr double kNearlyAll = 0.95;

/// An interval of the only child.
struct ChildInterval {
  double from_s;
  double to_s;
  std::uint64_t copies;
  std::uint64_t zero_fills;
};

/// Returns the intervals in which the only child has an entry; empty if there is not exactly one child.
std::vector<ChildInterval> only_child(const std::vector<Interval>& intervals) {
  std::set<pid_t> pids;
  std::vector<ChildInterval> found;
  for (const Interval& interval : intervals) {
    for (const IntervalProcess& process : interval.processes) {
      if (!process.child) continue;
      pids.insert(process.pid);
      found.push_back({interval.from_s, interval.to_s, process.counts.copies, process.counts.zero_fills});
    }
  }
  return pids.size() == 1 ? found : std::vector<ChildInterval>();
}

/// Determines when the copying of an only child ended, and how much new memory the child got before and after.
Measured<CopyingEnd> copying_end(const std::vector<Interval>& intervals) {
  const std::vector<ChildInterval> child = only_child(intervals);
  if (child.empty()) return NotAvailable{"there is not exactly one child"};
  std::uint64_t all = 0;
  for (const ChildInterval& each : child) all += each.copies;
  if (all < kFewestCopies) return NotAvailable{fmt::format("the child copied fewer than {} pages", kFewestCopies)};
  CopyingEnd end{0, child.front().from_s, child.back().to_s};
  std::size_t last = 0;
  for (;; ++last) {
    end.copies_until += child[last].copies;
    end.zero_fills_until += child[last].zero_fills;
    if (static_cast<double>(end.copies_until) >= kNearlyAll * static_cast<double>(all)) break;
  }
  // Copying counts as ended only if more than half of the child's life follows. If less follows, the watch may have
  // stopped too early.
  if (2 * (last + 1) > child.size()) return NotAvailable{"the child copied in most of its intervals"};
  end.at_s = child[last].to_s;
  end.copies_after = all - end.copies_until;
  for (std::size_t i = last + 1; i < child.size(); ++i) end.zero_fills_after += child[i].zero_fills;
  return end;
}

std::string copying_end_text(const Measured<CopyingEnd>& ended) {
  if (!ended) return "";
  return fmt::format(
      "; {} of the child's came in the first {:.3g} of its {:.3g} s, in which it got {}, and {} in the rest",
      format_percent(static_cast<double>(ended->copies_until) /
                     static_cast<double>(ended->copies_until + ended->copies_after)),
      ended->at_s - ended->child_from_s, ended->child_to_s - ended->child_from_s,
      format_counted(ended->zero_fills_until, "page") + " of zeros", format_count(ended->zero_fills_after));
}

}  // namespace

std::string known_text(const Measured<std::uint64_t>& count) { return count ? format_count(*count) : "n/a"; }

std::string unwatched_text(const Unwatched& unwatched) {
  return fmt::format(
      "process {} ({}) changed its credentials at an exec, or its user may not read the program. The kernel ended the "
      "watch: {}",
      unwatched.pid, unwatched.name,
      unwatched.faults ? fmt::format("at most {} are missing until the watch began again",
                                     format_counted(*unwatched.faults, "fault"))
                       : "all later faults are missing; watch as root");
}

bool are_told_apart(const Cow& cow) {
  const bool has_interval = cow.sampling && cow.sampling->half_width_95.copies;
  const bool incomplete = cow.unwatched && !cow.unwatched->empty();
  const bool counted = !cow.sampling && cow.totals.lost == 0;
  return !cow.bounds || (!incomplete && (cow.method == Method::kSoftware || counted || has_interval));
}

std::string copied_text(const Cow& cow) {
  const std::uint64_t copies = cow.totals.copies;
  std::string pages =
      fmt::format("{} copied ({})", format_counted(copies, "page"), format_size(cow.totals.copied_bytes));
  if (are_told_apart(cow)) {
    if (cow.sampling) return "about " + pages;
    // Faults of unknown kind may also be copies.
    const bool more = cow.bounds && cow.bounds->copies.at_most.value_or(0) > copies;
    return pages +
           (more ? fmt::format(" as far as is known, at most {}", format_count(*cow.bounds->copies.at_most)) : "");
  }
  const std::uint64_t least = cow.bounds->copies.at_least.value_or(0);
  const Measured<std::uint64_t>& most = cow.bounds->copies.at_most;
  if (!most) return fmt::format("at least {} copied", format_counted(least, "page"));
  if (*most == least) return pages;
  return fmt::format("between {} and {} copied", format_count(least), format_counted(*most, "page"));
}

bool misses_copies_in_fork(const Cow& cow) { return cow.processes.size() > 1 && !cow.forks; }

Verdict cow_verdict(const Cow& cow) {
  const std::uint64_t parent = copies_of(cow.intervals, false);
  const std::uint64_t children = copies_of(cow.intervals, true);
  std::string text = copied_text(cow);
  if (!are_told_apart(cow)) return {NotAvailable{"not every fault was recorded"}, text + ".", notes_of(cow)};
  if (has_children(cow.intervals)) {
    text += fmt::format(": {} by the parent, {} by its children", format_count(parent), format_count(children));
  }
  const Measured<CopyingEnd> ended = copying_end(cow.intervals);
  return {ended, text + copying_end_text(ended) + ".", notes_of(cow)};
}

std::string copies_advice(const Cow& cow) {
  Evidence evidence;
  evidence.costly = Costly::kCopies;
  evidence.copied_by_parent = evidence.copied_by_children = 0;
  for (const Process& process : cow.processes) {
    // A child that forks shares pages with several processes, so its copies cannot be attributed.
    const bool forks = std::any_of(cow.processes.begin(), cow.processes.end(),
                                   [&](const Process& each) { return each.parent == process.pid; });
    if (process.parent != 0 && forks) return "";
    *(process.parent != 0 ? evidence.copied_by_children : evidence.copied_by_parent) += process.counts.copies;
  }
  const AdviceRow* row = advice_row(evidence);
  return row == nullptr ? "" : row->words(evidence) + ".";
}

std::string next_step(const Cow& cow) {
  // Every fork copies a few pages, so copies of less than 1 MiB need no remedy.
  if (cow.totals.copied_bytes < kMiB) return "";
  return fmt::format("zerotax snapshot --size {}MiB", std::bit_ceil(cow.totals.copied_bytes) / kMiB);
}

}  // namespace zerotax::cow
