#include "base/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/lines.h"
#include "base/names.h"
#include "base/printable.h"
#include "base/units.h"
#include "observe/debug_packages.h"
#include "observe/file_reader.h"
#include "observe/symbols.h"
#include "record/answer.h"
#include "record/outside/result.h"
#include "record/resident/answer.h"
#include "record/tax.h"

namespace zerotax::record {
namespace {

constexpr std::size_t kTopSites = 10;
constexpr std::size_t kTopProcesses = 10;
constexpr std::size_t kTopThreads = 5;
constexpr std::size_t kCallers = 2;  // number of callers shown below a site

std::string totals(const Totals& sum) {
  Table called({{"called", Unit::kText, 14}, {"calls", Unit::kCount, 12}, {"requested", Unit::kBytes, 12}});
  called.add({"calloc", sum.calloc_calls, sum.requested_bytes});
  called.add({"malloc", sum.malloc_calls, sum.malloc_bytes});
  called.add({"realloc", sum.realloc_calls, sum.realloc_bytes});
  called.add({"free", sum.free_calls});
  Table zeroed({{"zeros of", Unit::kText, 14},
                {"stores", Unit::kCount, 10},
                {"bytes", Unit::kBytes, 12},
                {"redundant", Unit::kBytes, 12},
                {"wall time", Unit::kNs, 12},
                {"faults", Unit::kCount, 12}});
  const auto add = [&](const char* by, const Zeroing& zeroing) {
    zeroed.add({by, zeroing.zeroing_stores, zeroing.zeroed_bytes, zeroing.redundant_zeroed_bytes, zeroing.zero_ns,
                zeroing.zero_faults});
  };
  add("the allocator", sum);
  add("malloc+memset", sum.by_hand);
  add("other memset", sum.by_program);
  return "\n" + called.text() + "\n" + zeroed.text();
}

std::string remarks(const Record& record) {
  const Totals& sum = record.totals;
  std::string text = "\n";
  // This sentence gives only the share of wall time. The rows of causes have the shares of CPU time, without the time
  // of faults.
  if (sum.share_of_wall) {
    text += wrap(fmt::format(
        "Stores of zeros of {} and more, with the faults in them, took up to {} of the run's wall time on one thread. "
        "Smaller ones are counted, but not timed.",
        format_size(record.rule.large_bytes), format_percent(*sum.share_of_wall)));
  } else {
    text += wrap(fmt::format("The wall time of stores of zeros is unknown: {}.", sum.share_of_wall.why()));
  }
  const SmallSamples& samples = sum.small_samples;
  if (samples.bytes > 0) {
    text += wrap(fmt::format("{} {} examined: {:.0f} % of the bytes were redundant.",
                             format_counted(samples.stores, "smaller store"), samples.stores == 1 ? "was" : "were",
                             100 * static_cast<double>(samples.redundant_bytes) / static_cast<double>(samples.bytes)));
  }
  const HugeBlocks& huge = sum.huge_blocks;
  if (huge.examined_bytes != 0) {
    text +=
        wrap(fmt::format("Huge pages are zeroed whole: of {} examined in blocks with huge pages, the program had "
                         "written to {}.",
                         format_size(huge.examined_bytes), format_size(huge.written_bytes)));
  }
  if (sum.unseen.calls > 0) {
    text +=
        wrap(fmt::format("{} returned populated blocks ({}) without a visible memset: the allocator zeroed them with "
                         "inline stores, or knew that they were zero.",
                         format_counted(sum.unseen.calls, "large calloc"), format_size(sum.unseen.populated_bytes)));
  }
  text += wrap(
      "Zeros are counted where memset or a sibling of it is called. Those that are stored inline, by rep stos or "
      "by code made at run time are not seen: zerotax profile finds their time.");
  return text + wrap(fmt::format("Examining pages, contents and stacks took {} of the run.",
                                 format_ns(static_cast<double>(sum.own_ns))));
}

Column bytes_or_blank(const char* name, std::size_t width) { return {name, Unit::kBytes, width, "n/a", ""}; }

/// Returns the index of the innermost script function on a stack, or the number of frames if there is none.
std::size_t script_frame(const std::vector<NamedFrame>& frames) {
  const auto found =
      std::find_if(frames.begin(), frames.end(), [](const NamedFrame& frame) { return frame.is_script(); });
  return static_cast<std::size_t>(found - frames.begin());
}

/// Adds the rows of a site and its callers.
void add_site(Table& table, const RecordedSite& site) {
  const auto size = [](bool sampled, std::uint64_t bytes) {
    return bytes == 0 ? "" : (sampled ? "~" : "") + format_size(bytes);
  };
  const SampledSite& sampled = site.sampled;
  // Small calls are only sampled, so their number is not exact.
  const std::uint64_t calls = site.calls + sampled.calls.value_or(0);
  // The table of zeros uses the same word for stores by hand.
  const char* const kind = site.kind == SiteKind::kByHand ? "malloc+memset" : kind_text(site.kind);
  table.add({kind, calls == 0 ? "" : (sampled.calls ? "~" : "") + format_count(calls),
             size(sampled.zeroed_bytes != 0, site.all_zeroed_bytes()),
             size(sampled.redundant_zeroed_bytes != 0, site.redundant_zeroed_bytes + sampled.redundant_zeroed_bytes),
             size(sampled.kernel_zeroed_bytes != 0, site.all_kernel_bytes()), site.returned_bytes, ""});
  if (site.frames.empty()) table.note("    (unknown)");
  const std::size_t script = script_frame(site.frames);
  for (std::size_t i = 0; i < site.frames.size(); ++i) {
    if (i > kCallers && i != script) continue;
    table.note(wrap(one_line(frame_label(site.frames[i], false)), "    ", "      "));
  }
}

/// Returns the table of the first sites. Further rows are for the sum of all other sites and for bytes without a site,
/// so that the columns add up to the totals.
std::string sites(const Record& record) {
  Table table({{"in", Unit::kText, 13},
               right_text("calls", 10),
               right_text("stored", 11),
               right_text("redundant", 11),
               right_text("by kernel", 11),
               bytes_or_blank("returned", 11),
               {"at", Unit::kText, 0, "", {}, 2}});
  RecordedSite others;
  std::size_t shown = 0;
  for (const RecordedSite& site : record.sites) {
    if (shown < kTopSites && site.weight() != 0) {
      ++shown;
      add_site(table, site);
    } else {
      others.zeroed_bytes += site.all_zeroed_bytes();
      others.kernel_zeroed_bytes += site.all_kernel_bytes();
      others.returned_bytes += site.returned_bytes;
    }
  }
  if (table.empty()) return "";
  const auto size = [](std::uint64_t bytes) { return bytes == 0 ? "" : format_size(bytes); };
  Table rest(
      {{"", Unit::kText, 24}, right_text("", 11), right_text("", 11), right_text("", 11), bytes_or_blank("", 11)});
  if (others.weight() != 0) {
    rest.add({"other sites", size(others.zeroed_bytes), {}, size(others.kernel_zeroed_bytes), others.returned_bytes});
  }
  const Count& elsewhere = record.kernel_zeroed_elsewhere_bytes;
  if (elsewhere != std::uint64_t{0}) rest.add({"not attributed", {}, {}, elsewhere ? size(*elsewhere) : "n/a"});
  return "\n" + table.text() + rest.text(false);
}

/// Returns the packages with debug symbols for the displayed sites.
std::string packages(const Record& record) {
  std::vector<const std::vector<NamedFrame>*> stacks;
  for (const RecordedSite& site : record.sites) {
    if (stacks.size() < kTopSites && site.weight() != 0) stacks.push_back(&site.frames);
  }
  return debug_packages_line(stacks, kCallers + 1);
}

std::string histogram(const std::vector<SizeRow>& rows) {
  Table table({{"size", Unit::kBytes, 8, "", "0", 1, Column::Side::kLeft},
               {"callocs", Unit::kCount, 9},
               {"mallocs", Unit::kCount, 9},
               bytes_or_blank("zeroed", 9),
               bytes_or_blank("redundant", 9),
               bytes_or_blank("memset", 9),
               bytes_or_blank("by kernel", 9),
               bytes_or_blank("returned", 9)});
  for (const SizeRow& row : rows) {
    const bool zeroed = row.zeroed_bytes != 0 || row.by_hand_zeroed_bytes != 0;
    if (row.calloc_calls == 0 && !zeroed && row.unpopulated_blocks.value_or(0) == 0) continue;
    const std::string small = "small blocks";
    table.add({row.from_bytes, row.calloc_calls, row.malloc_calls, row.zeroed_bytes, row.redundant_zeroed_bytes,
               row.by_hand_zeroed_bytes, Count(row.kernel_zeroed_bytes, small), Count(row.returned_bytes, small)});
  }
  return "\n" + table.text();
}

/// Returns the sum of the bytes that the allocator zeroed and the bytes that the program zeroed by hand. If one of the
/// two is unknown, returns the other.
Count both(const Metrics& metrics, Count Zeroing::*field) {
  const Count& one = metrics.*field;
  const Count& other = metrics.by_hand.*field;
  if (one) return *one + other.value_or(0);
  return other.value_or(0) != 0 ? other : one;
}

template <typename Entry>
std::vector<const Entry*> heaviest(const std::vector<Entry>& entries, std::size_t most) {
  std::vector<const Entry*> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(&entry);
  const auto weight = [](const Entry* entry) { return both(entry->figures, &Zeroing::zeroed_bytes).value_or(0); };
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return weight(a) > weight(b); });
  if (order.size() > most) order.resize(most);
  return order;
}

std::string processes(const std::vector<RecordedProcess>& all) {
  constexpr std::size_t kName = 24;
  Table table({{"pid", Unit::kText, 9},
               {"command", Unit::kText, kName},
               {"callocs", Unit::kCount, 10},
               {"zeroed", Unit::kBytes, 10},
               {"redundant", Unit::kBytes, 11},
               {"time", Unit::kNs, 10}});
  const auto add = [&](const std::string& pid, const std::string& name, const Metrics& figures) {
    table.add({pid, first_characters(printable(name), kName), figures.calloc_calls,
               both(figures, &Zeroing::zeroed_bytes), both(figures, &Zeroing::redundant_zeroed_bytes),
               both(figures, &Zeroing::zero_ns)});
  };
  for (const RecordedProcess* process : heaviest(all, kTopProcesses)) {
    const std::string& command = process->command;
    std::string name = file_name(command.empty() ? process->executable : command.substr(0, command.find(' ')));
    if (process->began == Began::kFork) name += " (fork)";
    add(std::to_string(process->pid), name, process->figures);
    if (process->threads.size() < 2) continue;
    for (const RecordedThread* thread : heaviest(process->threads, kTopThreads)) {
      add("", "  thread " + (thread->threads > 1 ? fmt::format("{} threads", thread->threads) : thread->name),
          thread->figures);
    }
    if (process->threads.size() <= kTopThreads) continue;
    table.note(fmt::format("{:<9}   and {}", "", format_counted(process->threads.size() - kTopThreads, "more thread")));
  }
  if (all.size() > kTopProcesses) {
    table.note(fmt::format("and {}", format_counted(all.size() - kTopProcesses, "more process", "more processes")));
  }
  return "\n" + table.text();
}

/// A recording from outside has no further tables.
std::string outside_text(const Record& record) {
  return outside_head(record) + tax_text(record.tax) + outside_sites_text(record) + outside_processes(record) +
         (record.forks ? forks_text(*record.forks) : "") + script_names_lines(record.script_names) + packages(record) +
         unread_files_lines() + "\n" + wrap(record.tax.advice) + outside_remarks(record);
}

std::string huge_text(const Record& record) {
  const std::string words = record.huge_pages ? huge_words(*record.huge_pages) : "";
  return words.empty() ? "" : "\n" + wrap(words);
}

std::string inside_text(const Record& record) {
  return tax_text(record.tax) + huge_text(record) + (record.forks ? forks_text(*record.forks) : "") +
         returned_text(record.totals.returned) + sites(record) + script_names_lines(record.script_names) +
         packages(record) + unread_files_lines() + "\n" + wrap(record.tax.advice) + totals(record.totals) +
         remarks(record) + histogram(record.histogram) + processes(record.processes);
}

}  // namespace

const char* kind_text(SiteKind kind) {
  constexpr const char* kWords[] = {"calloc", "realloc", "by hand", "malloc", "free",
                                    "purge",  "program", "memset",  "fault"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string record_text(const Record& record) {
  std::string text = resident_text(record) + wrap(headline(record)) + "\n";
  if (record.outside) {
    text += outside_text(record);
  } else {
    const RunResult& run = record.run;
    text += wrap(fmt::format("zerotax record: {} after {}, {} of CPU time, {}.", end_words(record),
                             format_ns(static_cast<double>(run.wall_ns)),
                             format_ns(static_cast<double>(run.user_ns + run.system_ns)),
                             format_counted(record.processes.size(), "process", "processes")));
    if (!record.processes.empty()) text += inside_text(record);
    std::string lines;
    for (const std::string& warning : warnings(record)) lines += wrap(warning, "! ", "  ");
    if (!lines.empty()) text += "\n" + lines;
  }
  if (!next_step(record).empty()) text += "\nTo find and prove a remedy: zerotax advise -- COMMAND\n";
  return text;
}

}  // namespace zerotax::record
