#include "base/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <vector>

#include "base/size.h"
#include "base/units.h"
#include "cow/result.h"

namespace zerotax::cow {
namespace {

constexpr std::size_t kMostChildren = 8;
/// The columns of the heading and of the lines below it.
constexpr const char* kColumns = "{:<8} {:<15} {:>7} {:>7} {:>10} {:>9} {:>9} {:<10} {:>7} {:>7} {:>9} {:>9}";

/// Sums over some processes. `pss` is empty if it is unknown for one of these processes.
struct Side {
  FaultCounts counts;
  bool sampled = false;  ///< whether some faults were not recorded, so that refills are unknown
  std::size_t alive = 0;
  std::uint64_t rss = 0;
  std::uint64_t vsz = 0;
  std::optional<std::uint64_t> pss = 0;

  void add(const FaultInterval::Process& process) {
    counts.add(process.counts);
    if (!process.memory.rss) return;
    ++alive;
    rss += *process.memory.rss;
    vsz += process.memory.vsz.value_or(0);
    pss = pss && process.memory.pss ? std::optional(*pss + *process.memory.pss) : std::nullopt;
  }
};

using Child = std::pair<pid_t, const FaultInterval::Process*>;

std::string cut(const std::string& text, std::size_t columns) {
  return (columns > 0 ? first_characters(text, columns) : text) + "\n";
}

/// The local time of `at`, in seconds since 1970, such as "13:04:05" or "04:05.3".
std::string time_of_day(double at, bool tenths) {
  const auto whole = static_cast<std::time_t>(std::floor(at));
  std::tm local{};
  if (::localtime_r(&whole, &local) == nullptr) return "";
  if (!tenths) return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
  const int tenth = static_cast<int>((at - std::floor(at)) * 10);
  return fmt::format("{:02}:{:02}.{}", local.tm_min, local.tm_sec, tenth);
}

/// A bar with "@" for 1 to 3 copies, "@@" for 4 to 15, and so on; empty for 0.
std::string bar(std::uint64_t copies) {
  std::string marks;
  marks.append(static_cast<std::size_t>(std::bit_width(copies) + 1) / 2, '@');
  return marks;
}

std::string line(const std::string& time, const std::string& who, const Side& side, std::size_t columns) {
  const auto memory = [&](std::optional<std::uint64_t> bytes) {
    return side.alive > 0 && bytes ? format_size(*bytes) : "-";
  };
  const FaultCounts& counts = side.counts;
  return cut(fmt::format(kColumns, time, who, format_count(counts.copies), format_count(counts.reuses),
                         format_count(counts.zero_fills), format_size(counts.copied_bytes), memory(side.rss),
                         bar(counts.copies), side.sampled ? "n/a" : format_count(counts.refills),
                         format_count(counts.file_faults), memory(side.pss), memory(side.vsz)),
             columns);
}

std::string change_line(const FaultInterval::Change& change, double begin, bool tenths, std::size_t columns) {
  const std::string what =
      change.began ? fmt::format("began: {}, forked by {}", change.name, change.parent) : std::string("ended");
  return cut(fmt::format("{:<8} child {} {}", time_of_day(begin + change.at_s, tenths), change.pid, what), columns);
}

std::string changes_text(const FaultInterval& interval, bool tenths, std::size_t columns) {
  const double begin = interval.ended_at - interval.to_s;
  std::string text;
  std::uint64_t began = interval.began;
  std::uint64_t ended = interval.ended;
  for (const FaultInterval::Change& change : interval.changes) {
    text += change_line(change, begin, tenths, columns);
    --(change.began ? began : ended);
  }
  if (began + ended == 0) return text;
  return text + cut(fmt::format("{:<8} {} more children began, {} more ended", time_of_day(interval.ended_at, tenths),
                                format_count(began), format_count(ended)),
                    columns);
}

}  // namespace

std::string cow_heading(std::size_t columns) {
  return cut("Each further @ stands for 4 times as many copies.", columns) +
         cut("-: no process is alive at the end of the interval, or its memory is unknown.", columns) +
         cut(fmt::format(kColumns, "time", "process", "copies", "reuses", "zero-fills", "copied", "RSS", "", "refills",
                         "file", "PSS", "VSZ"),
             columns);
}

std::string cow_lines(const FaultInterval& interval, bool tenths, std::size_t columns) {
  Side none;
  none.sampled = interval.sampled;
  Side all = none;
  Side parents = none;
  std::vector<Child> children;
  pid_t parent = 0;
  for (const auto& [pid, process] : interval.processes) {
    all.add(process);
    if (process.child) {
      children.emplace_back(pid, &process);
    } else {
      parents.add(process);
      parent = pid;
    }
  }
  std::string text = changes_text(interval, tenths, columns);
  text += line(time_of_day(interval.ended_at, tenths), "all", all, columns);
  if (children.empty()) return text;
  if (parent != 0) text += line("", fmt::format("parent {}", parent), parents, columns);
  std::stable_sort(children.begin(), children.end(), [](const Child& one, const Child& other) {
    return one.second->counts.copies > other.second->counts.copies;
  });
  Side others = none;
  for (std::size_t n = 0; n < children.size(); ++n) {
    if (n >= kMostChildren) {
      others.add(*children[n].second);
      continue;
    }
    Side side = none;
    side.add(*children[n].second);
    text += line("", fmt::format("child {}", children[n].first), side, columns);
  }
  if (children.size() <= kMostChildren) return text;
  return text + line("", fmt::format("{} more", format_count(children.size() - kMostChildren)), others, columns);
}

}  // namespace zerotax::cow
