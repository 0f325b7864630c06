#include "base/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/lines.h"
#include "base/names.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/units.h"
#include "cow/result.h"
#include "observe/file_reader.h"
#include "observe/running_process.h"
#include "os/processor.h"

namespace zerotax::cow {
namespace {

constexpr std::size_t kRows = 8;

/// Weight of a row in a table: its copies, reuses and zero-fills. File faults do not count, because all processes read
/// files.
std::uint64_t told(const Counts& counts) { return counts.copies + counts.reuses + counts.zero_fills; }

struct Row {
  std::string name;  ///< shortened if the line would be too long
  std::string end;
  Counts counts;
};

struct Figure {
  Column column;
  Cell (*of)(const Counts& counts);
  bool always = false;  ///< whether the column stays in a line that is too long, even if all its cells are 0 or n/a
};

const std::vector<Figure>& all_figures() {
  static const std::vector<Figure> all{
      {{"copies", Unit::kCount, 7}, [](const Counts& counts) -> Cell { return counts.copies; }, true},
      {{"reuses", Unit::kCount, 7}, [](const Counts& counts) -> Cell { return counts.reuses; }},
      {{"zero-fills", Unit::kCount, 10}, [](const Counts& counts) -> Cell { return counts.zero_fills; }, true},
      {{"refills", Unit::kCount, 7}, [](const Counts& counts) -> Cell { return counts.refills; }},
      {{"file", Unit::kCount, 6}, [](const Counts& counts) -> Cell { return counts.file_faults; }},
      {{"other", Unit::kCount, 5}, [](const Counts& counts) -> Cell { return counts.other; }},
      {{"copied", Unit::kBytes, 9}, [](const Counts& counts) -> Cell { return counts.copied_bytes; }, true},
  };
  return all;
}

std::size_t width_of(const Figure& figure, const std::vector<Row>& rows) {
  std::size_t width = figure.column.width;
  for (const Row& row : rows)
    width = std::max(width, shown_width(figure.of(row.counts).text(figure.column.unit, "n/a")));
  return width + 1;
}

bool is_empty(const Figure& figure, const std::vector<Row>& rows) {
  return std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
    const Cell cell = figure.of(row.counts);
    return cell.is_zero() || cell.text(figure.column.unit, "").empty();
  });
}

/// The name in at most `room` characters. The ellipsis is ASCII, like the rest of the table.
std::string cut_name(const std::string& name, std::size_t room) {
  constexpr std::string_view kEllipsis = "…";
  if (shown_width(name) <= room) return name;
  std::string kept = first_characters(name, room > 3 ? room - 2 : 1);
  kept.resize(kept.size() - kEllipsis.size());
  return kept + "...";
}

/// A table of the rows with the most faults, in at most 80 columns.
std::string top(const char* what, std::vector<Row> rows) {
  constexpr std::size_t kColumns = 80;
  constexpr std::size_t kGap = 2;
  std::erase_if(rows, [](const Row& each) { return told(each.counts) == 0; });
  if (rows.empty()) return "";
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& one, const Row& other) { return told(one.counts) > told(other.counts); });
  const std::size_t more = rows.size() > kRows ? rows.size() - kRows : 0;
  rows.resize(rows.size() - more);
  std::size_t label = 0;
  for (Row& row : rows) {
    row.name = printable(row.name);
    row.end = printable(row.end);
    label = std::max(label, shown_width(row.name + row.end));
  }
  std::vector<Figure> figures = all_figures();
  const auto width = [&] {
    std::size_t sum = kGap;
    for (const Figure& figure : figures) sum += width_of(figure, rows);
    return sum;
  };
  if (width() + label > kColumns) {
    std::erase_if(figures, [&](const Figure& each) { return !each.always && is_empty(each, rows); });
  }
  const std::size_t room = kColumns - std::min(kColumns - 1, width());
  std::vector<Column> columns;
  columns.reserve(figures.size());
  for (const Figure& figure : figures) columns.push_back(figure.column);
  columns.push_back({what, Unit::kText, 0, "", {}, kGap});
  Table table(columns);
  for (const Row& row : rows) {
    std::vector<Cell> cells;
    cells.reserve(figures.size() + 1);
    for (const Figure& figure : figures) cells.push_back(figure.of(row.counts));
    const std::size_t end = shown_width(row.end);
    cells.emplace_back(cut_name(row.name, room > end ? room - end : 1) + row.end);
    table.add(std::move(cells));
  }
  if (more > 0) table.note(fmt::format("{:>7} more", format_count(more)));
  return "\n" + table.text();
}

/// Describes how far the counts of a sample can be trusted; empty if every fault was recorded.
std::string sampling_warning(const Cow& cow) {
  if (!cow.sampling) return "";
  const Totals& totals = cow.totals;
  const HalfWidths& widths = cow.sampling->half_width_95;
  std::string of = "the faults";
  std::string all;
  if (totals.handled) {
    of = format_counted(*totals.handled, "fault");
    all = "; their sum is exact";
  }
  const auto bounded = [](std::uint64_t count, const char* what, const Measured<std::uint64_t>& width) {
    return fmt::format("{} {} ± {}", format_count(count), what, known_text(width));
  };
  const std::string recorded =
      fmt::format("sampled: {} of {} were recorded one by one, in {}{}. ", format_count(cow.sampling->recorded), of,
                  format_counted(cow.sampling->windows, "window"), all);
  constexpr const char* kEvery = "--every-fault records all faults, which doubles the time of each fault.";
  if (!widths.copies) {
    return fmt::format("{}The numbers are guesses, because there were {}; {}", recorded, widths.copies.why(), kEvery);
  }
  return fmt::format("{}The counts by class are estimates, with 95 % confidence {}, {}, {}; {}", recorded,
                     bounded(totals.copies, "copies", widths.copies), bounded(totals.reuses, "reuses", widths.reuses),
                     bounded(totals.zero_fills, "zero-fills", widths.zero_fills), kEvery);
}

/// Adds warnings about faults in system calls, and about pages that system calls allocated without a fault.
void add_system_calls(const Cow& cow, std::vector<std::string>& all) {
  if (cow.unclassified.value_or(0) > 0) {
    all.push_back(fmt::format(
        "not classified: {} that the kernel took on behalf of process {} and its children, without an exception "
        "that could be watched. Causes are MAP_POPULATE, mlock, or access to the memory of another process "
        "(process_vm_writev, ptrace).",
        format_counted(*cow.unclassified, "fault"), cow.pid));
  }
  if (!cow.in_system_calls || cow.in_system_calls->copies == 0) return;
  all.push_back(fmt::format(
      "not counted: up to {} and {} of system calls. These pages took no fault (MADV_POPULATE_WRITE, mlock, "
      "O_DIRECT, process_vm_writev, ptrace), or belong to shared memory that a system call wrote.",
      format_counted(cow.in_system_calls->copies, "copy", "copies"),
      format_counted(cow.in_system_calls->zero_fills, "zero-fill")));
}

std::string totals_lines(const Cow& cow) {
  const Totals& totals = cow.totals;
  const bool by_tracepoints = cow.method == Method::kTracepoints;
  const std::string again =
      totals.refills.value_or(0) > 0 ? fmt::format(" ({} of them again)", known_text(totals.refills)) : "";
  const std::string others =
      !by_tracepoints && totals.other > 0 ? fmt::format(", {} unknown", format_count(totals.other)) : "";
  const std::string by = by_tracepoints
                             ? fmt::format("by tracepoints{}", cow.sampling ? "" : ", every fault")
                             : fmt::format(
                                   "by software events{}: faults in user mode, classified by which processes "
                                   "share each page",
                                   kHasFaultTracepoints ? ", as an ordinary user" : "");
  return wrap(fmt::format("{}, {} reused, {} zero-filled{}, {}{}, in {:.3g} s; counted: {}; {}", copied_text(cow),
                          format_count(totals.reuses), format_count(totals.zero_fills), again,
                          format_counted(totals.file_faults, "file fault"), others, cow.wall_s, cow.counted, by),
              "", "  ");
}

}  // namespace

std::string mapping_label(const Mapping& mapping) {
  const std::string size = format_size(mapping.end - mapping.begin);
  switch (mapping.kind) {
    case MappingKind::kFile:
      return file_name(mapping.name);
    case MappingKind::kAnonymous:
      return fmt::format("anonymous {:#x} ({})", mapping.begin, size);
    case MappingKind::kUnknown:
      return "unknown";
    case MappingKind::kHeap:
      return fmt::format("heap ({})", size);
    case MappingKind::kStack:
      return fmt::format("stack ({})", size);
    case MappingKind::kSpecial:
      break;
  }
  return fmt::format("{} ({})", mapping.name, size);
}

std::string code_label(const Code& code) {
  return (code.after ? "after " + *code.after : code.function) + (code.module.empty() ? "" : " (" + code.module + ")") +
         (code.through ? ", in " + *code.through : "");
}

std::vector<std::string> cow_warnings(const Cow& cow) {
  std::vector<std::string> all;
  if (const Totals& totals = cow.totals; totals.lost != 0) {
    const bool by_root = cow.method == Method::kTracepoints || !kHasFaultTracepoints;
    all.push_back(fmt::format("{} lost, because the per-CPU buffer of {} was full: {}; give a larger --buffer{}.",
                              format_counted(totals.lost, "event"), format_size(cow.buffer_bytes),
                              cow.sampling ? "the faults of these events are estimated" : "the counts are too low",
                              by_root ? "" : ", or watch as root"));
  }
  if (const std::string sampled = sampling_warning(cow); !sampled.empty()) all.push_back(sampled);
  if (cow.bounds && cow.bounds->copies.at_most && cow.method == Method::kSoftware) {
    all.push_back(fmt::format(
        "bounded: an ordinary user does not see the effect of a fault. A page that was dropped since the last sample "
        "counts as copied, although the page was zero-filled. In user mode, there are at most {} copies and at most {} "
        "zero-fills.",
        known_text(cow.bounds->copies.at_most), known_text(cow.bounds->zero_fills.at_most)));
  }
  for (const Unwatched& each : cow.unwatched.value_or(std::vector<Unwatched>{})) {
    all.push_back("not watched: " + unwatched_text(each) + ".");
  }
  if (cow.running) all.push_back(runs_on(*cow.running));
  add_system_calls(cow, all);
  if (const std::uint64_t missing = cow.stacks ? cow.stacks->lost + cow.stacks->skipped : 0; missing != 0) {
    all.push_back(
        fmt::format("{} in user mode have no stack: they are attributed to the function that took them, "
                    "such as the interpreter's, and not to the script's.",
                    format_counted(missing, "fault")));
  }
  return all;
}

std::string forks_text(const Cow& cow) {
  if (!cow.forks) return "";
  for (const Forks& each : *cow.forks) {
    if (each.way != ForkWay::kFork) continue;
    std::string text = fmt::format("{} took {} in the kernel", format_counted(each.processes, "fork"),
                                   format_ns(static_cast<double>(each.kernel_ns)));
    if (each.page_tables) text += fmt::format(", and allocated {}", format_counted(*each.page_tables, "page table"));
    text += ".";
    if (each.copied_pages.value_or(0) != 0) {
      text += fmt::format(
          " The forks themselves copied {}, without a fault, because {} pinned for a device: "
          "madvise(MADV_DONTFORK) prevents this copy.",
          format_counted(*each.copied_pages, "page"), *each.copied_pages == 1 ? "it is" : "they are");
    }
    return text;
  }
  return "";
}

std::string cow_text(const Cow& cow) {
  const std::string what =
      cow.command.empty() ? fmt::format("process {}", cow.pid) : fmt::format("{}", fmt::join(cow.command, " "));
  std::string text = wrap(what, "", "  ") + totals_lines(cow);
  for (const std::string& warning : cow_warnings(cow)) text += wrap(warning, "! ", "  ");
  if (cow.script_names) text += script_names_lines(*cow.script_names);
  text += unread_files_lines();
  if (const std::string forks = forks_text(cow); !forks.empty()) text += wrap(forks);
  if (misses_copies_in_fork(cow)) text += wrap(kCopiedByFork);
  std::vector<Row> processes;
  std::vector<Row> mappings;
  for (const Process& process : cow.processes) {
    processes.push_back({fmt::format("{} {} {}", process.parent != 0 ? "child" : "parent", process.pid, process.name),
                         "", process.counts});
    for (const Mapping& mapping : process.mappings) {
      mappings.push_back({mapping_label(mapping), fmt::format(" of {}", process.pid), mapping.counts});
    }
  }
  const Answer next{.headline = "", .steps = cow_steps(cow)};
  std::vector<Row> code;
  for (const Code& each : cow.code) code.push_back({code_label(each), "", each.counts});
  return text + top("process", processes) + top("mapping", mappings) + top("code", code) + writers_table(cow) +
         sharing_table(cow) +
         (next.steps.empty() ? ""
                             : answer_text(next, SIZE_MAX).substr(1));  // omits the line break after the empty headline
}

}  // namespace zerotax::cow
