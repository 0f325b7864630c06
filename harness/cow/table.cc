#include "base/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/names.h"
#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "cow/result.h"
#include "judge/evidence.h"
#include "observe/unread_files.h"
#include "os/processor.h"

namespace zerotax::cow {
namespace {

constexpr std::size_t kRows = 8;

/// What puts a row into a table, and orders it: faults that copied or zeroed, or might have. All processes read files.
std::uint64_t told(const Counts& counts) { return counts.copies + counts.reuses + counts.zero_fills; }

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
  return code.function + (code.module.empty() ? "" : " (" + code.module + ")") +
         (code.through ? ", in " + *code.through : "");
}

using Rows = std::vector<std::pair<std::string, Counts>>;

std::string top(const char* what, Rows rows) {
  std::erase_if(rows, [](const auto& each) { return told(each.second) == 0; });
  if (rows.empty()) return "";
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& one, const auto& other) { return told(one.second) > told(other.second); });
  Table table({{"copies", Unit::kCount, 9},
               {"reuses", Unit::kCount, 8},
               {"zero-fills", Unit::kCount, 10},
               {"refills", Unit::kCount, 8},
               {"file", Unit::kCount, 7},
               {"other", Unit::kCount, 6},
               {"copied", Unit::kBytes, 9},
               {what, Unit::kText, 0, "", {}, 2}});
  for (std::size_t i = 0; i < std::min(rows.size(), kRows); ++i) {
    const auto& [label, counts] = rows[i];
    table.add({counts.copies, counts.reuses, counts.zero_fills, counts.refills, counts.file_faults, counts.other,
               counts.copied_bytes, label});
  }
  if (rows.size() > kRows) table.note(fmt::format("{:>9} more", format_count(rows.size() - kRows)));
  return "\n" + table.text();
}

std::string known(const Measured<std::uint64_t>& count) { return count ? format_count(*count) : "n/a"; }

/// Which counts are exact, and which are not.
std::string sampling_lines(const Cow& cow) {
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
    return fmt::format("{} {} ± {}", format_count(count), what, known(width));
  };
  return wrap(
      fmt::format("! sampled: {} of {} were recorded one by one, in {}{}. How they divide is an estimate, with "
                  "95 % confidence {}, {}, {}; --every-fault records all, which doubles the time of each",
                  format_count(cow.sampling->recorded), of, format_counted(cow.sampling->windows, "window"), all,
                  bounded(totals.copies, "copies", widths.copies), bounded(totals.reuses, "reuses", widths.reuses),
                  bounded(totals.zero_fills, "zero-fills", widths.zero_fills)),
      "", "  ");
}

/// What is not exact, though every fault was recorded.
std::string bounds_lines(const Cow& cow) {
  std::string text;
  if (cow.bounds) {
    text += wrap(fmt::format("! bounded: an ordinary user does not see what a fault did: a page that was dropped since "
                             "the last look is called copied, and was zero-filled. At most {} copies, at most {} "
                             "zero-fills in user mode",
                             format_count(cow.bounds->copies.at_most), format_count(cow.bounds->zero_fills.at_most)),
                 "", "  ");
  }
  if (cow.unclassified.value_or(0) == 0) return text;
  return text + wrap(fmt::format("! not classified: {} that the kernel took in the name of process {}, without an "
                                 "exception that could be watched: MAP_POPULATE, mlock, or the memory of another "
                                 "process (process_vm_writev, ptrace)",
                                 format_counted(*cow.unclassified, "fault"), cow.pid),
                     "", "  ");
}

/// Says how many faults are attributed to the interpreter for want of a stack.
std::string stacks_line(const Cow& cow) {
  const std::uint64_t missing = cow.stacks ? cow.stacks->lost + cow.stacks->skipped : 0;
  if (missing == 0) return "";
  return wrap(
      fmt::format("! {} in user mode have no stack: they are attributed to the function that took them, such as the "
                  "interpreter's, and not to the script's",
                  format_counted(missing, "fault")),
      "", "  ");
}

std::string totals_lines(const Cow& cow) {
  const Totals& totals = cow.totals;
  const bool by_tracepoints = cow.method == Method::kTracepoints;
  const std::string again =
      totals.refills.value_or(0) > 0 ? fmt::format(" ({} of them again)", known(totals.refills)) : "";
  const std::string by = by_tracepoints
                             ? fmt::format("by tracepoints{}", cow.sampling ? "" : ", every fault")
                             : fmt::format(
                                   "by software events{}: faults in user mode, classified by which processes "
                                   "share each page",
                                   kHasFaultTracepoints ? ", as an ordinary user" : "");
  std::string text =
      wrap(fmt::format("{}{} copied ({}), {} reused, {} zero-filled{}, {}, in {:.3g} s; counted: {}; {}",
                       cow.sampling ? "about " : "", format_counted(totals.copies, "page"),
                       format_size(totals.copied_bytes), format_count(totals.reuses), format_count(totals.zero_fills),
                       again, format_counted(totals.file_faults, "file fault"), cow.wall_s, cow.counted, by),
           "", "  ");
  if (totals.lost == 0) return text;
  return text + wrap(fmt::format("! {} lost, because the per-CPU buffer of {} was full: {}; give a larger --buffer{}",
                                 format_counted(totals.lost, "event"), format_size(cow.buffer_bytes),
                                 cow.sampling ? "their faults are estimated, too" : "the counts are too low",
                                 by_tracepoints || !kHasFaultTracepoints ? "" : ", or watch as root"),
                     "", "  ");
}

std::string advice_lines(const Cow& cow) {
  Evidence evidence;
  evidence.costly = Costly::kCopies;
  evidence.copied_by_parent = evidence.copied_by_children = 0;
  for (const Process& process : cow.processes) {
    // Nobody knows with which process a child that forks itself shared what it copied.
    const bool forks = std::any_of(cow.processes.begin(), cow.processes.end(),
                                   [&](const Process& each) { return each.parent == process.pid; });
    if (process.parent != 0 && forks) return "";
    *(process.parent != 0 ? evidence.copied_by_children : evidence.copied_by_parent) += process.counts.copies;
  }
  const AdviceRow* row = advice_row(evidence);
  return row == nullptr ? "" : "\n" + wrap(advice_words(row, evidence), "", "  ");
}

}  // namespace

std::string cow_text(const Cow& cow) {
  const std::string what =
      cow.command.empty() ? fmt::format("process {}", cow.pid) : fmt::format("{}", fmt::join(cow.command, " "));
  std::string text = wrap(what, "", "  ") + totals_lines(cow) + sampling_lines(cow) + bounds_lines(cow);
  if (cow.script_names) text += script_names_lines(*cow.script_names);
  text += unread_files_lines();
  text += stacks_line(cow);
  Rows processes;
  Rows mappings;
  for (const Process& process : cow.processes) {
    processes.emplace_back(fmt::format("{} {} {}", process.parent != 0 ? "child" : "parent", process.pid, process.name),
                           process.counts);
    for (const Mapping& mapping : process.mappings) {
      mappings.emplace_back(fmt::format("{} of {}", mapping_label(mapping), process.pid), mapping.counts);
    }
  }
  Rows code;
  for (const Code& each : cow.code) code.emplace_back(code_label(each), each.counts);
  return text + top("process", processes) + top("mapping", mappings) + top("code", code) + advice_lines(cow);
}

}  // namespace zerotax::cow
