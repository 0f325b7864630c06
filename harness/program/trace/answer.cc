#include "base/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lines.h"
#include "base/printable.h"
#include "base/shell.h"
#include "base/units.h"
#include "trace/fields.h"
#include "trace/result.h"

namespace zerotax::trace {
namespace {

constexpr double kShown = 0.01;  ///< Smallest share of all events, or of the total time, for which a row is shown.
constexpr std::size_t kLongestName = 40;

/// Returns the event types; the types with the most events come first.
std::vector<const EventCount*> by_events(const Summary& summary) {
  std::vector<const EventCount*> rows;
  for (const EventCount& each : summary.types) rows.push_back(&each);
  std::stable_sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->events > b->events; });
  return rows;
}

double share_of(std::uint64_t part, std::uint64_t all) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(all, 1));
}

std::string subject_of(const Summary& summary) {
  const std::size_t count = summary.processes.size();
  if (count == 0) return "No process";
  const Process& first = summary.processes.front();
  const std::string name = first.name.empty() ? fmt::format("Process {}", first.pid) : first.name;
  return count == 1 ? name
                    : fmt::format("{} and {}", name, format_counted(count - 1, "other process", "other processes"));
}

Table types(const Summary& summary) {
  Table table({{"event", Unit::kText, 30},
               {"events", Unit::kCount, 12},
               {"share", Unit::kPercent, 8},
               right_text("seconds", 12, 1, "")});
  std::size_t rare = 0;
  std::uint64_t rest = 0;
  for (const EventCount* row : by_events(summary)) {
    if (share_of(row->events, summary.events) >= kShown) {
      table.add({first_characters(row->name, kLongestName), row->events, share_of(row->events, summary.events),
                 seconds_text(*row)});
    } else {
      ++rare;
      rest += row->events;
    }
  }
  if (rare != 0) {
    table.add({format_counted(rare, "type below 1 %", "types below 1 %"), rest, share_of(rest, summary.events)});
  }
  return table;
}

/// Returns a row for each thread in which intervals ended. The thread with the longest total time comes first.
Table threads(const Intervals& intervals) {
  Table table({{"thread", Unit::kText, 16},
               {"times", Unit::kCount, 10},
               {"total", Unit::kNs, 10},
               {"median", Unit::kNs, 10},
               {"p99", Unit::kNs, 10},
               {"longest", Unit::kNs, 10}});
  const auto add = [&](const std::string& name, const Distribution& time) {
    table.add({name, time.count, time.total_ns, time.median_ns, time.p99_ns, time.max_ns});
  };
  std::vector<const IntervalThread*> rows;
  for (const IntervalThread& each : intervals.threads) rows.push_back(&each);
  const auto total = [](const IntervalThread* row) { return row->time.total_ns.value_or(0); };
  std::stable_sort(rows.begin(), rows.end(), [&](auto* a, auto* b) { return total(a) > total(b); });
  if (rows.size() != 1) add("all", intervals.all);
  for (const IntervalThread* row : rows) {
    if (total(row) < kShown * intervals.all.total_ns.value_or(0) || row->time.count == 0) continue;
    add(fmt::format("{}:{}", row->pid, row->tid), row->time);
  }
  return table;
}

/// Returns a sentence about the thread with the longest interval.
std::string where(const Intervals& intervals) {
  const auto longest = [](const IntervalThread& row) { return row.time.max_ns.value_or(-1); };
  const auto worst =
      std::max_element(intervals.threads.begin(), intervals.threads.end(),
                       [&](const IntervalThread& a, const IntervalThread& b) { return longest(a) < longest(b); });
  if (worst == intervals.threads.end() || !worst->time.max_ns) return "";
  return fmt::format("the longest time, {}, ended in thread {} of process {}.", time_text(worst->time.max_ns),
                     worst->tid, worst->pid);
}

std::vector<Answer::Step> steps(const Summary& summary) {
  const std::string folder = shell_word(summary.folder);
  if (summary.intervals) return {};
  const std::vector<const EventCount*> rows = by_events(summary);
  std::vector<Answer::Step> all;
  if (std::any_of(rows.begin(), rows.end(), [](auto* row) { return row->name == "function_entry"; })) {
    all.push_back({"zerotax trace functions " + folder, "see the functions and their times:"});
  } else if (rows.size() > 1) {
    const bool is_first = *rows[0]->first_ns <= *rows[1]->first_ns;
    all.push_back({fmt::format("zerotax trace summary {} --begin {} --end {}", folder,
                               shell_word(rows[is_first ? 0 : 1]->name), shell_word(rows[is_first ? 1 : 0]->name)),
                   "measure the time between two types of event:"});
  }
  return all;
}

}  // namespace

std::string headline(const Summary& summary) {
  if (summary.intervals) return summary.intervals->sentence + ".";
  std::string text = fmt::format("{} recorded {} in {} s", subject_of(summary), format_counted(summary.events, "event"),
                                 seconds_text(summary));
  const std::vector<const EventCount*> rows = by_events(summary);
  if (rows.empty()) return text + ".";
  const std::string& name = rows.front()->name;
  if (rows.size() == 1) return fmt::format("{}, all of type {}.", text, name);
  return fmt::format("{}, {} of them of type {}.", text, format_percent(share_of(rows.front()->events, summary.events)),
                     name);
}

std::vector<std::string> warnings(const Source& source) {
  std::vector<std::string> all = source.problems;
  if (source.discarded > 0) {
    all.push_back(fmt::format("{} discarded, and the counts are too low.",
                              format_counted(source.discarded, "record was", "records were")));
  }
  return all;
}

Answer summary_answer(const Summary& summary) {
  Answer answer{.headline = headline(summary), .steps = steps(summary), .warnings = warnings(summary)};
  if (summary.intervals) {
    answer.table = threads(*summary.intervals);
    answer.where = where(*summary.intervals);
    answer.more = "All threads, and a histogram";
  } else {
    answer.table = types(summary);
    answer.legend = "Seconds from the first to the last event of each type.";
    answer.more = "All types of event";
  }
  return answer;
}

}  // namespace zerotax::trace
