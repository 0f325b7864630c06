#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/lines.h"
#include "base/table.h"
#include "base/units.h"
#include "os/page.h"
#include "record/kernel_part.h"
#include "record/tax.h"

namespace zerotax::record {
namespace {

// If the recorder takes more than this share, it may have changed the program's behavior.
constexpr double kDearRecorder = 0.1;
constexpr std::size_t kMostReturns = 6;

std::string text_of(const Count& count, Unit unit) { return Cell(count).text(unit, "n/a"); }

/// Formats a count, or its upper bound if the count is unknown.
std::string bounded(const Count& count, const std::optional<Count>& most, Unit unit) {
  if (count == std::uint64_t{0}) return "0";
  return !count && most && *most ? "< " + text_of(*most, unit) : text_of(count, unit);
}

bool is_estimated(const TaxRow& row) { return row.estimated && row.cpu_ns.value_or(0) != 0; }

std::string cost_text(const TaxRow& row) {
  const bool sampled = row.cpu_interval_ns && row.cpu_ns.value_or(0) != 0;
  return (is_estimated(row) || sampled ? "~" : "") + bounded(row.cpu_ns, row.at_most_cpu_ns, Unit::kNs);
}

std::string rows_text(const Tax& tax) {
  Table table({{"cause", Unit::kText, 37},
               right_text("bytes", 11, 1, ""),
               {"faults", Unit::kCount, 10},
               right_text("CPU time", 10, 1, ""),
               {"share", Unit::kPercent, 7}});
  for (const TaxRow& row : tax.rows) {
    table.add({cause_text(row.cause), bounded(row.bytes, row.at_most_bytes, Unit::kBytes), row.faults, cost_text(row),
               row.share_of_cpu});
  }
  return "\n" + table.text();
}

/// Whether page faults that zeroed nothing may cost enough to matter. If some memory is unseen, the row of unseen
/// memory includes these faults.
bool has_other_faults(const Tax& tax) { return tax.kernel_unknown_processes == 0 && tax.other_faults.noticed; }

std::string notes(const Tax& tax) {
  std::string text;
  if (const std::string words = estimate_words(tax); !words.empty()) text += wrap(words);
  if (has_other_faults(tax)) {
    const std::string time = format_ns(as_double(tax.other_faults.estimated_cpu_ns));
    text += wrap(fmt::format(
        "{} more page faults zeroed nothing that was seen: files, copies after a fork, shared memory, reads "
        "of memory that nobody wrote. These faults took {}.",
        format_count(tax.other_faults.faults),
        tax.other_faults.capped ? fmt::format("at most the {} of CPU time that zeroing left", time)
                                : fmt::format("{} of CPU time if each costs as much as one that zeroes", time)));
    text += "To tell these faults apart: zerotax cow -- COMMAND\n";
  }
  const auto row =
      std::find_if(tax.rows.begin(), tax.rows.end(), [](const TaxRow& each) { return each.cause == Cause::kUnseen; });
  if (tax.kernel_unknown_processes != 0 && row != tax.rows.end()) {
    text += wrap(fmt::format("The kernel may have zeroed more than was seen for {}{}; {}.",
                             format_counted(tax.kernel_unknown_processes, "process", "processes"),
                             row->at_most_bytes && *row->at_most_bytes ? ", at most a page for each fault" : "",
                             row->bytes.why()));
  }
  return text;
}

/// Returns the table of noticeable uses of memory and time that are in no cause.
std::string beside_text(const Tax& tax) {
  if (!tax.beside) return "";
  constexpr const char* kWords[] = {"shared memory, not counted", "zero pages: read, unwritten", "copied inside fork",
                                    "exit: returning it all", "waiting for CPU quota"};
  Table table({{"beside zeroing", Unit::kText, 27}, right_text("bytes", 12, 1, ""), right_text("time", 12, 1, "")});
  std::string unknown;
  for (const BesideRow& row : *tax.beside) {
    const std::optional<Count>& value = row.bytes ? row.bytes : row.ns;
    const bool known = value && *value;
    if (!row.noticed) continue;
    const char* const words = kWords[static_cast<std::size_t>(row.what)];
    const char* const least = known && row.at_least.value_or(false) ? "> " : "";
    table.add(
        {words, row.bytes ? least + text_of(*row.bytes, Unit::kBytes) : "", row.ns ? text_of(*row.ns, Unit::kNs) : ""});
    if (!known && value) unknown += wrap(fmt::format("n/a, {}: {}.", words, value->why()));
  }
  return table.empty() ? "" : "\n" + table.text() + unknown;
}

/// Returns the unit of a value with the space before it, such as " ms" for "228 ms".
std::string unit_of(const std::string& text) { return text.substr(std::min(text.rfind(' '), text.size())); }

/// Joins two values. If both have the same unit, the unit appears once, as in "8.49 to 10.6 ms".
std::string joined(const std::string& one, const char* between, const std::string& other) {
  const std::string unit = unit_of(one);
  return (unit == unit_of(other) ? one.substr(0, one.size() - unit.size()) : one) + between + other;
}

std::string ns_text(std::uint64_t ns) { return format_ns(as_double(ns)); }

/// Formats a time, or its bounds, as a part of the CPU time: "228 of 529 ms", "8.49 to 10.6 of 124 ms", "760 µs to 1.1
/// ms of 9 ms".
std::string part_text(const Tax& tax, std::uint64_t least, std::uint64_t most) {
  const std::string bounds = least == most ? ns_text(most) : joined(ns_text(least), " to ", ns_text(most));
  const bool has_one_unit = unit_of(ns_text(least)) == unit_of(ns_text(most));
  return has_one_unit ? joined(bounds, " of ", ns_text(tax.cpu_ns)) : bounds + " of " + ns_text(tax.cpu_ns);
}

/// Formats a share of the CPU time: "43 %", "6.8 %", "under 0.1 %".
std::string share_text(const Tax& tax, std::uint64_t ns) {
  const double share = share_of_cpu(tax, ns);
  if (share > 0 && share < 0.0005) return "under 0.1 %";
  return share < 0.0995 ? format_percent(share) : format_whole_percent(share);
}

/// Returns the end of the headline: the interval of the share, and whether there is anything to gain.
std::string headline_end(const Tax& tax) {
  std::string end;
  if (tax.zeroing_cpu_interval_ns) {
    const auto [least, most] = *tax.zeroing_cpu_interval_ns;
    end = fmt::format("; the 95 % interval is {}", joined(share_text(tax, least), " to ", share_text(tax, most)));
  }
  const bool is_open = tax.find_out != FindOut::kNothing || tax.other_faults.noticed || tax.not_recorded.noticed;
  if (is_open || !costly_rows(tax).empty()) return end + ".";
  if (share_of_cpu(tax, *tax.zeroing_cpu_ns) >= kNoticed) end += "; no single cause takes 1 %";
  return end + ", so there is nothing to gain.";
}

}  // namespace

const char* cause_text(Cause cause) {
  constexpr const char* kWords[] = {"kernel zeroed new memory (fresh)",
                                    "kernel zeroed memory again (refilled)",
                                    "kernel took memory back (returned)",
                                    "kernel may have zeroed more (unseen)",
                                    "allocator cleared zeros (redundant)",
                                    "allocator cleared old data (needed)",
                                    "allocator cleared more (not examined)",
                                    "allocator cleared freed memory",
                                    "program cleared new blocks (memset)",
                                    "program cleared other memory (memset)",
                                    "zeros stored in user mode"};
  return kWords[static_cast<std::size_t>(cause)];
}

std::string tax_headline(const Subject& subject, const Tax& tax) {
  const std::string& who = subject.words;
  if (tax.cpu_ns == 0) return who + " used no CPU time that the kernel counted, so the cost of zeroing is unknown.";
  const auto sentence = [&](const std::string& share, std::uint64_t least, std::uint64_t most, const std::string& end) {
    return fmt::format("{} spent {} of {} CPU time ({}) on zeroing memory{}", who, share,
                       subject.is_plural ? "their" : "its", part_text(tax, least, most), end);
  };
  if (tax.share_of_cpu) {
    const std::uint64_t all = *tax.zeroing_cpu_ns;
    return sentence((tax.zeroing_cpu_interval_ns ? "about " : "") + share_text(tax, all), all, all, headline_end(tax));
  }
  const std::uint64_t least = tax.zeroing_at_least_cpu_ns;
  const Count& most = tax.zeroing_at_most_cpu_ns;
  if (least == 0 && most.value_or(tax.cpu_ns) >= tax.cpu_ns) {
    return fmt::format("{} used {} of CPU time; the part spent on zeroing memory is unknown.", who,
                       ns_text(tax.cpu_ns));
  }
  if (!most) return sentence("at least " + share_text(tax, least), least, least, ".");
  if (least == 0) return sentence("at most " + share_text(tax, *most), *most, *most, ".");
  return sentence(joined(share_text(tax, least), " to ", share_text(tax, *most)), least, *most, ".");
}

std::vector<std::string> tax_warnings(const Tax& tax) {
  std::vector<std::string> all;
  if (!tax.share_of_cpu && tax.cpu_ns != 0) {
    const bool is_bounded = tax.zeroing_at_most_cpu_ns && *tax.zeroing_at_most_cpu_ns < tax.cpu_ns;
    all.push_back(fmt::format("{}; {}.",
                              is_bounded                         ? "Only bounds of the share are known"
                              : tax.zeroing_at_least_cpu_ns != 0 ? "Zeroing took more by an unknown amount"
                                                                 : "The share is unknown",
                              tax.share_of_cpu.why()));
  }
  const double own = as_double(tax.recorder_cpu_ns);
  if (const double all_of_it = own + as_double(tax.cpu_ns); own > kDearRecorder * all_of_it) {
    all.push_back(fmt::format("The recorder took {} of the run's CPU time, which no share includes.",
                              format_percent(own / all_of_it)));
  }
  if (tax.emulated_cpu) {
    all.emplace_back(
        "The CPU is emulated: bytes and faults are exact, but times and shares differ from those of a real CPU.");
  }
  if (tax.timing_changed) {
    all.emplace_back(
        "Several threads ran, and the recorder changes their timing. Without the recorder, the program may fault "
        "more or less often.");
  }
  return all;
}

Table cause_table(const Tax& tax) {
  Table table({{"cause", Unit::kText, 40},
               right_text("bytes", 11, 1, ""),
               right_text("CPU time", 11, 1, ""),
               {"share", Unit::kPercent, 9}});
  for (const TaxRow* row : costly_rows(tax)) {
    table.add({cause_text(row->cause), bounded(row->bytes, row->at_most_bytes, Unit::kBytes), cost_text(*row),
               row->share_of_cpu});
  }
  if (has_other_faults(tax)) {
    table.add({format_counted(tax.other_faults.faults, "other page fault"), "",
               "< " + ns_text(tax.other_faults.estimated_cpu_ns), Cell::not_available()});
  }
  return table;
}

std::string estimate_words(const Tax& tax) {
  const FaultCost& cost = tax.fault_cost;
  if (!cost.base_ns_per_byte || std::none_of(tax.rows.begin(), tax.rows.end(), is_estimated)) return "";
  return fmt::format("~ is bytes times {} a page, measured in {}{}{}; its error is unknown.",
                     format_ns(*cost.base_ns_per_byte * static_cast<double>(page_bytes())), cost.measured_in,
                     cost.samples == 0 ? "" : fmt::format(" ({})", format_counted(cost.samples, "sample")),
                     tax.capped ? ", and cut to the CPU time that was left" : "");
}

std::string tax_text(const Tax& tax) {
  std::string text;
  for (const std::string& warning : tax_warnings(tax)) text += wrap(warning, "! ", "  ");
  if (tax.zeroing_cpu_ns && tax.kernel_cpu_ns) {
    text += wrap(fmt::format("The kernel took {} of that, and stores of zeros {}.", ns_text(*tax.kernel_cpu_ns),
                             ns_text(less(*tax.zeroing_cpu_ns, *tax.kernel_cpu_ns))));
  }
  return text + rows_text(tax) + notes(tax) + beside_text(tax);
}

std::string used_text(const Count& minor_faults, const Count& cpu_ns) {
  if (!minor_faults && !cpu_ns) return "with an unknown number of faults and unknown CPU time";
  return fmt::format("with {} minor faults and {} of CPU time", text_of(minor_faults, Unit::kCount),
                     text_of(cpu_ns, Unit::kNs));
}

std::string returned_text(const Returned& returned) {
  if (returned.rows.empty()) return "";
  constexpr const char* kWhere[] = {"free", "realloc", "malloc or calloc", "the allocator, on its own", "the program"};
  std::vector<ReturnedBy> rows = returned.rows;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ReturnedBy& a, const ReturnedBy& b) { return a.bytes > b.bytes; });
  if (rows.size() > kMostReturns) rows.resize(kMostReturns);
  Table table({{"returned to the kernel in", Unit::kText, 26},
               {"bytes", Unit::kBytes, 12, "n/a", "0"},
               {"calls", Unit::kCount, 12},
               {"CPU time", Unit::kNs, 12},
               right_text("by", 10, 1, "")});
  for (const ReturnedBy& row : rows) {
    table.add({kWhere[row.by], row.bytes, row.calls, row.cpu_ns, word(row.mechanism)});
  }
  std::string text = "\n" + table.text();
  if (returned.sampled_calls == 0 || !returned.interval_bytes) return text;
  const auto [least, most] = *returned.interval_bytes;
  return text +
         wrap(fmt::format(
             "About {} of these calls returned less than 64 KiB each; one in 32 of them, chosen at random, was "
             "examined. All calls together returned {} to {} (95 % confidence). The refilled bytes are uncertain by "
             "the same amount.",
             format_count(returned.sampled_calls), format_size(least), format_size(most)));
}

}  // namespace zerotax::record
