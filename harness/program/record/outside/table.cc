#include "base/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/lines.h"
#include "base/names.h"
#include "base/units.h"
#include "observe/symbols.h"
#include "record/answer.h"
#include "record/kernel_part.h"
#include "record/outside/result.h"

namespace zerotax::record {
namespace {

constexpr std::size_t kSitesShown = 10;
constexpr std::size_t kFewSites = 5;
constexpr std::size_t kFramesShown = 3;

std::string time_text(std::uint64_t ns) { return format_ns(as_double(ns)); }

std::string bytes_text(const Count& bytes) { return bytes ? format_size(*bytes) : "n/a"; }

/// Formats an interval, as in " (1 KiB to 2 KiB)". Empty if both ends have the same text.
std::string between(const LowHigh& interval) {
  if (!interval) return "";
  const std::string least = format_size((*interval)[0]);
  const std::string most = format_size((*interval)[1]);
  return least == most ? "" : fmt::format(" ({} to {})", least, most);
}

std::string counted_text(const Record& record) {
  const KernelMetrics& kernel = record.totals.kernel;
  constexpr const char* kHow[] = {"counted page by page", "minor faults times the share of zero-fill faults in samples",
                                  "bounds"};
  const char* const how = kHow[static_cast<std::size_t>(record.outside->zeroed_by)];
  return wrap(
      fmt::format("{} minor faults; zeroed by the kernel: {}{} ({}), of that refilled: {}{}; held at the peak: {}{}.",
                  kernel.minor_faults ? format_count(*kernel.minor_faults) : "n/a", bytes_text(kernel.zeroed_bytes),
                  between(kernel.zeroed_interval_bytes), how, bytes_text(kernel.refilled_bytes),
                  kernel.refilled_bytes ? between(kernel.refilled_interval_bytes) : "", kernel.peak_bytes ? "~" : "",
                  bytes_text(kernel.peak_bytes)));
}

/// Adds the innermost functions of a stack. Also adds the innermost function of a script if an interpreter ran one.
void add_frames(Table& table, const std::vector<NamedFrame>& frames) {
  bool any_script = false;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool first_script = frames[i].is_script() && !any_script;
    any_script = any_script || first_script;
    if (i < kFramesShown || first_script) table.note(wrap(one_line(frame_label(frames[i], false)), "    ", "      "));
  }
}

std::string rough(std::uint64_t bytes) { return bytes == 0 ? "0" : "~" + format_size(bytes); }

/// Returns the sites for which `is` holds, in the order of the record.
template <typename Is>
std::vector<const RecordedSite*> sites_where(const Record& record, const Is& is) {
  std::vector<const RecordedSite*> found;
  for (const RecordedSite& site : record.sites) {
    if (is(site)) found.push_back(&site);
  }
  return found;
}

/// Returns the table of sites where memory was populated.
std::string fault_sites(const Record& record) {
  const auto sites = sites_where(record, [](const RecordedSite& site) { return site.kind == SiteKind::kFault; });
  if (sites.empty()) return "";
  Table table({right_text("by kernel", 12, 1, ""),
               right_text("refilled", 12, 1, ""),
               {"share", Unit::kPercent, 10},
               right_text("95 %", 20, 1, ""),
               {"at", Unit::kText, 0, "", {}, 2}});
  std::uint64_t all = 0;
  for (const RecordedSite* site : sites) all += site->sampled.kernel_zeroed_bytes;
  const auto share = [&](std::uint64_t bytes) { return all == 0 ? 0 : as_double(bytes) / as_double(all); };
  RecordedSite others;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const RecordedSite& site = *sites[i];
    if (i >= kSitesShown) {
      others.sampled.kernel_zeroed_bytes += site.sampled.kernel_zeroed_bytes;
      others.refilled_bytes += site.refilled_bytes;
      continue;
    }
    const LowHigh& interval = site.sampled.kernel_interval_bytes;
    table.add(
        {rough(site.sampled.kernel_zeroed_bytes), rough(site.refilled_bytes), share(site.sampled.kernel_zeroed_bytes),
         interval
             ? fmt::format("{} to {}", format_percent(share((*interval)[0])), format_percent(share((*interval)[1])))
             : "",
         site.frames.empty() ? "(unknown)" : ""});
    add_frames(table, site.frames);
  }
  if (others.sampled.kernel_zeroed_bytes != 0) {
    table.add({rough(others.sampled.kernel_zeroed_bytes), rough(others.refilled_bytes), {}, "", "other sites"});
  }
  return "\n" + table.text();
}

/// Returns the table of sites that stored zeros.
std::string store_sites(const Record& record) {
  const auto sites =
      sites_where(record, [](const RecordedSite& site) { return site.sampled.zero_cpu_ns.value_or(0) != 0; });
  if (sites.empty()) return "";
  Table table({right_text("CPU time", 12, 1, ""),
               right_text("95 %", 22, 1, ""),
               {"stored zeros at", Unit::kText, 0, "", {}, 2}});
  for (std::size_t i = 0; i < std::min(kFewSites, sites.size()); ++i) {
    const auto& [least, most] = sites[i]->sampled.zero_cpu_interval_ns.value_or(std::array<std::uint64_t, 2>{});
    table.add({"~" + time_text(*sites[i]->sampled.zero_cpu_ns),
               fmt::format("{} to {}", time_text(least), time_text(most)),
               sites[i]->frames.empty() ? "(unknown)" : ""});
    add_frames(table, sites[i]->frames);
  }
  return "\n" + table.text();
}

/// Returns the table of sites that returned memory.
std::string return_sites(const Record& record) {
  const auto sites = sites_where(
      record, [](const RecordedSite& site) { return site.sampled.returned_at_most_bytes.value_or(0) != 0; });
  if (sites.empty()) return "";
  Table table({{"in", Unit::kText, 8},
               right_text("calls", 12, 1, ""),
               right_text("returned", 12, 1, ""),
               right_text("95 %", 22, 1, ""),
               {"at", Unit::kText, 0, "", {}, 2}});
  for (std::size_t i = 0; i < std::min(kFewSites, sites.size()); ++i) {
    const SampledSite& sampled = sites[i]->sampled;
    const std::string interval = between(sampled.returned_interval_bytes);
    const bool whole = interval.empty();
    const std::string calls = format_count(sampled.return_calls.value_or(0));
    table.add({kind_text(sites[i]->kind), whole ? calls : "~" + calls,
               fmt::format("{}{}", whole ? "< " : "~< ", format_size(*sampled.returned_at_most_bytes)),
               whole ? "" : interval.substr(2, interval.size() - 3), sites[i]->frames.empty() ? "(unknown)" : ""});
    add_frames(table, sites[i]->frames);
  }
  return "\n" + table.text();
}

/// Returns the table of all stores of zeros, if --sizes was given.
std::string store_sizes_text(const Record& record) {
  if (!record.store_sizes) return "";
  const StoreSizes& sizes = *record.store_sizes;
  const std::string lost =
      sizes.lost_calls == 0 ? "" : fmt::format(", and {} were lost", format_counted(sizes.lost_calls, "call"));
  std::string text = "\n" + wrap(fmt::format("{}: {} of zeros, {}; {} with other bytes{}.",
                                             fmt::join(sizes.functions, ", "), format_counted(sizes.calls, "call"),
                                             format_size(sizes.bytes), format_count(sizes.other_bytes_calls), lost));
  Table table({{"calls", Unit::kCount, 12},
               {"bytes", Unit::kBytes, 12},
               {"smallest", Unit::kBytes, 12},
               {"largest", Unit::kBytes, 12},
               {"stored zeros from", Unit::kText, 0, "", {}, 2}});
  for (std::size_t i = 0; i < std::min(kSitesShown, sizes.callers.size()); ++i) {
    const StoreCaller& caller = sizes.callers[i];
    table.add({caller.calls, caller.bytes, caller.smallest_bytes, caller.largest_bytes});
    add_frames(table, {caller.frame});
  }
  if (!sizes.callers.empty()) text += table.text();
  if (sizes.unwatched.empty()) return text;
  return text + wrap(fmt::format("Any calls to {} are missing, because no breakpoint is safe there.",
                                 fmt::join(sizes.unwatched, ", ")));
}

}  // namespace

std::string outside_sites_text(const Record& record) {
  return fault_sites(record) + store_sites(record) + store_sizes_text(record) + return_sites(record);
}

/// Returns the table of the processes with the most faults; empty if a command or a single process was recorded.
std::string outside_processes(const Record& record) {
  if (record.outside->watched == Watched::kCommand || record.outside->watched == Watched::kProcess) return "";
  constexpr std::size_t kName = 40;
  constexpr std::size_t kShown = 5;
  std::vector<const RecordedProcess*> order;
  for (const RecordedProcess& process : record.processes) order.push_back(&process);
  const auto faults = [](const RecordedProcess* process) { return process->kernel.minor_faults.value_or(0); };
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return faults(a) > faults(b); });
  Table table({{"pid", Unit::kText, 9},
               {"command", Unit::kText, kName},
               {"minor faults", Unit::kCount, 14},
               right_text("at the peak", 13, 1, "")});
  for (std::size_t i = 0; i < std::min(kShown, order.size()) && faults(order[i]) != 0; ++i) {
    const std::string& command = order[i]->command.empty() ? order[i]->executable : order[i]->command;
    table.add({std::to_string(order[i]->pid), first_characters(one_line(command), kName - 1),
               order[i]->kernel.minor_faults, rough(order[i]->kernel.peak_bytes.value_or(0))});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string outside_head(const Record& record) {
  const Outside& outside = *record.outside;
  const RunResult& run = record.run;
  const std::string cpu = time_text(static_cast<std::uint64_t>(run.user_ns + run.system_ns));
  const std::string wall = time_text(static_cast<std::uint64_t>(run.wall_ns));
  const std::string name = record.command.empty() ? "" : file_name(record.command.front());
  const std::string processes = format_counted(record.processes.size() + record.lost_processes, "process", "processes");
  if (outside.watched != Watched::kCommand && outside.watched != Watched::kProcess) {
    const std::string what = outside.watched == Watched::kCgroup ? "cgroup " + outside.cgroup.value_or("")
                             : outside.watched == Watched::kUser ? "all processes of this user"
                                                                 : "all processes";
    return wrap(
               "zerotax record: the programs were recorded from outside, without zerotax's library, because they were "
               "already running.") +
           wrap(fmt::format("Watched: {}, for {}; {} of CPU time, {}.", what, wall, cpu, processes));
  }
  return wrap(fmt::format(
             "zerotax record: the program was recorded from outside, without zerotax's library, because {}.",
             outside.why)) +
         (outside.pid ? wrap(fmt::format("{} (PID {}) was watched for {}, {} of CPU time, {}; {}.", name, *outside.pid,
                                         wall, cpu, processes, run.exit_status.why()))
                      : wrap(fmt::format("{} after {}, {} of CPU time, {}.", end_words(record), wall, cpu, processes)));
}

std::string outside_remarks(const Record& record) {
  const Outside& outside = *record.outside;
  std::string text = "\n" + counted_text(record);
  if (const std::string rates = rates_words(record); !rates.empty()) text += wrap(rates);
  if (outside.cpu_samples + outside.fault_samples != 0) {
    std::string clearing;
    if (outside.clearing_cpu_ns && outside.clearing_interval_ns) {
      const auto [least, most] = *outside.clearing_interval_ns;
      clearing = fmt::format(" Clearing pages took {} ({} to {}).", time_text(*outside.clearing_cpu_ns),
                             time_text(least), time_text(most));
    }
    text += wrap(fmt::format(
        "~ in times and sites: from {} of CPU time and {} of page faults; --json has their 95 % "
        "intervals.{}",
        format_counted(outside.cpu_samples, "sample", "samples"), format_count(outside.fault_samples), clearing));
  }
  if (outside.why_no_returns.empty()) {
    text += wrap(
        "< in returned bytes: so much was asked for. How much of it was populated is known for the whole program "
        "only.");
  } else if (outside.cpu_samples + outside.fault_samples != 0) {
    text += wrap(fmt::format(
        "The calls that returned memory are unknown, and the returned bytes follow from resident memory: {}.",
        outside.why_no_returns));
  }
  text += wrap(
      "Not visible from outside: calls and sizes of malloc, calloc and free, whether stores of zeros were redundant, "
      "pages that were read and never written, what fork copies itself, and the time of exit.");
  for (const std::string& note : outside.notes) text += wrap(note, "! ", "  ");
  return text;
}

}  // namespace zerotax::record
