#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "os/page.h"
#include "record/kernel_part.h"
#include "record/tax.h"

namespace zerotax::record {
namespace {

// More than this, and the program did not run as it does alone.
constexpr double kDearRecorder = 0.1;
constexpr std::size_t kMostReturns = 6;

std::string text_of(const Count& count, Unit unit) { return Cell(count).text(unit, "n/a"); }

const char* cause_text(Cause cause) {
  constexpr const char* kWords[] = {"kernel: fresh memory",    "kernel: refilled memory", "kernel: returning it",
                                    "kernel: not seen",        "allocator: redundant",    "allocator: needed",
                                    "allocator: not examined", "allocator: inside free",  "program: malloc+memset",
                                    "program: other memset",   "stores of zeros"};
  return kWords[static_cast<std::size_t>(cause)];
}

/// Where it is only known to be no more than something, that.
std::string bounded(const Count& count, const std::optional<Count>& most, Unit unit) {
  if (count == std::uint64_t{0}) return "0";
  return !count && most && *most ? "< " + text_of(*most, unit) : text_of(count, unit);
}

bool is_estimated(const TaxRow& row) { return row.estimated && row.cpu_ns.value_or(0) != 0; }

std::string rows_text(const Tax& tax) {
  Table table({{"zeroed by", Unit::kText, 26},
               {"bytes", Unit::kText, 12, "", {}, 1, Column::Side::kRight},
               {"faults", Unit::kCount, 12},
               {"CPU time", Unit::kText, 12, "", {}, 1, Column::Side::kRight},
               {"share", Unit::kPercent, 10}});
  for (const TaxRow& row : tax.rows) {
    const bool sampled = row.cpu_interval_ns && row.cpu_ns.value_or(0) != 0;
    table.add({cause_text(row.cause), bounded(row.bytes, row.at_most_bytes, Unit::kBytes), row.faults,
               (is_estimated(row) || sampled ? "~" : "") + bounded(row.cpu_ns, row.at_most_cpu_ns, Unit::kNs),
               row.share_of_cpu});
  }
  return "\n" + table.text();
}

std::string notes(const Tax& tax) {
  std::string text;
  const FaultCost& cost = tax.fault_cost;
  if (std::any_of(tax.rows.begin(), tax.rows.end(), is_estimated) && cost.base_ns_per_byte) {
    text += wrap(fmt::format("~: bytes times {} a page, what populating memory took in {}{}.",
                             format_ns(*cost.base_ns_per_byte * static_cast<double>(page_bytes())), cost.measured_in,
                             tax.capped ? "; cut to the CPU time that was left" : ""));
  }
  if (tax.emulated_cpu) {
    text +=
        wrap("The CPU is emulated: bytes and faults are exact, times and shares of them are not those of a real CPU.");
  }
  if (tax.timing_changed) {
    text += wrap(
        "Several threads: how many heaps an allocator makes, and what it trims, depends on their timing, which "
        "the recorder changes. Alone the program may fault less often, or more: perf stat -e minor-faults "
        "counts that.");
  }
  if (tax.kernel_unknown_processes == 0 && tax.other_faults.noticed) {
    const std::string time = format_ns(as_double(tax.other_faults.estimated_cpu_ns));
    text += wrap(
        fmt::format("{} more page faults zeroed nothing that was seen: files, copies after a fork, shared "
                    "memory, reads of memory that nobody wrote (zerotax cow -- COMMAND tells them apart). {}",
                    format_count(tax.other_faults.faults),
                    tax.other_faults.capped
                        ? fmt::format("They took at most the {} of CPU time that zeroing left.", time)
                        : fmt::format("If each costs what one that zeroes does, they took {} of CPU time.", time)));
  }
  const auto row =
      std::find_if(tax.rows.begin(), tax.rows.end(), [](const TaxRow& each) { return each.cause == Cause::kUnseen; });
  if (tax.kernel_unknown_processes != 0 && row != tax.rows.end()) {
    text += wrap(fmt::format("Not seen: what the kernel zeroed for {}, beyond what was seen of it{}: {}.",
                             format_counted(tax.kernel_unknown_processes, "process", "processes"),
                             row->at_most_bytes && *row->at_most_bytes ? ", a page for each fault at most" : "",
                             row->bytes.why()));
  }
  return text;
}

/// The table of noticed uses beside zeroing, which the causes do not contain.
std::string beside_text(const Tax& tax) {
  if (!tax.beside) return "";
  constexpr const char* kWords[] = {"shared memory, not counted", "zero pages: read, unwritten", "copied inside fork",
                                    "exit: returning it all", "waiting for CPU quota"};
  Table table({{"beside zeroing", Unit::kText, 27},
               {"bytes", Unit::kText, 12, "", {}, 1, Column::Side::kRight},
               {"time", Unit::kText, 12, "", {}, 1, Column::Side::kRight}});
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

/// " (95 %: 20 % to 45 %)" if the sum rests on samples.
std::string sampled_words(const Tax& tax) {
  if (!tax.zeroing_cpu_interval_ns) return "";
  const auto [least, most] = *tax.zeroing_cpu_interval_ns;
  return fmt::format(" (95 %: {} to {})", format_percent(share_of_cpu(tax, least)),
                     format_percent(share_of_cpu(tax, most)));
}

/// The cost in one sentence. It says so if a cost is known only within bounds.
std::string headline(const Tax& tax) {
  const double cpu = as_double(tax.cpu_ns);
  const std::string of =
      fmt::format("the {}{}", tax.not_recorded.noticed ? "recorded processes' " : "program's ", format_ns(cpu));
  if (tax.share_of_cpu) {
    const double all = as_double(*tax.zeroing_cpu_ns);
    std::string text =
        fmt::format("Zeroing took {}{} of CPU time, {}{} of {}", tax.zeroing_cpu_interval_ns ? "about " : "",
                    format_ns(all), format_percent(*tax.share_of_cpu), sampled_words(tax), of);
    if (!tax.kernel_cpu_ns) return text + ".";
    const double kernel = as_double(*tax.kernel_cpu_ns);
    return text + fmt::format(": {} in the kernel, {} in stores of zeros.", format_ns(kernel),
                              format_ns(std::max(0.0, all - kernel)));
  }
  const std::string why = tax.share_of_cpu.why();
  if (cpu == 0) return fmt::format("The share of zeroing is unknown: {}.", why);
  const double least = as_double(tax.zeroing_at_least_cpu_ns);
  if (least == 0 && tax.zeroing_at_most_cpu_ns.value_or(0) >= tax.cpu_ns) {
    return fmt::format("Zeroing took an unknown part of {} of CPU time: {}.", of, why);
  }
  if (!tax.zeroing_at_most_cpu_ns) {
    return fmt::format("Zeroing took at least {} of CPU time, {} of {}. How much more is unknown: {}.",
                       format_ns(least), format_percent(least / cpu), of, why);
  }
  const double most = as_double(*tax.zeroing_at_most_cpu_ns);
  return fmt::format("Zeroing took between {} and {} of CPU time, {} to {} of {}: {}.", format_ns(least),
                     format_ns(most), format_percent(least / cpu), format_percent(most / cpu), of, why);
}

/// What no figure contains.
std::string missed_text(const NotRecorded& missed) {
  if (!missed.noticed) return "";
  return wrap(fmt::format("Not included: {} that recorded nothing, {} (see below).",
                          format_counted(missed.processes, "process", "processes"),
                          used_text(missed.minor_faults, missed.cpu_ns)));
}

}  // namespace

std::string recorder_cost_text(const Tax& tax) {
  const double own = as_double(tax.recorder_cpu_ns);
  const double all = own + as_double(tax.cpu_ns);
  if (all == 0 || own <= kDearRecorder * all) return "";
  return wrap(
      fmt::format("zerotax record: the recorder itself took {} of the run's CPU time. Every share below leaves it out.",
                  format_percent(own / all)));
}

std::string tax_text(const Tax& tax) {
  return "\n" + wrap(headline(tax)) + missed_text(tax.not_recorded) + rows_text(tax) + notes(tax) + beside_text(tax);
}

std::string used_text(const Count& minor_faults, const Count& cpu_ns) {
  if (!minor_faults && !cpu_ns) return "and what it used was not counted";
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
               {"by", Unit::kText, 10, "", {}, 1, Column::Side::kRight}});
  for (const ReturnedBy& row : rows) {
    table.add({kWhere[row.by], row.bytes, row.calls, row.cpu_ns, word(row.mechanism)});
  }
  std::string text = "\n" + table.text();
  if (returned.sampled_calls == 0 || !returned.interval_bytes) return text;
  const auto [least, most] = *returned.interval_bytes;
  return text +
         wrap(fmt::format("About {} of these calls returned less than 64 KiB each; one in 32 of them, chosen at "
                          "random, was examined. All together: {} to {} (95 % confidence), and so much less or more "
                          "was refilled.",
                          format_count(returned.sampled_calls), format_size(least), format_size(most)));
}

}  // namespace zerotax::record
