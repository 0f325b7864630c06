#include "cow/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zerotax::cow {
namespace {

/// Reasons why a method that sees only some faults lacks a metric.
constexpr const char* kNotSeen = "visible to root only";
constexpr const char* kSampled = "not every fault was recorded, so the returned pages are unknown; give --every-fault";

/// The kinds of faults that the method can show, and whether it showed every fault.
struct Seen {
  bool kernel = true;  ///< whether the method sees faults in the kernel, and their sizes and times; only root's method
                       ///< does
  bool every_fault = true;
};

Counts counts_of(const FaultCounts& counts, const Seen& seen) {
  return {counts.copies,
          counts.reuses,
          counts.zero_fills,
          known_if(seen.every_fault, counts.refills, kSampled),
          counts.file_faults,
          counts.other,
          known_if(seen.kernel, counts.kernel, kNotSeen),
          counts.copied_bytes,
          known_if(seen.kernel, counts.zeroed_bytes, kNotSeen),
          known_if(seen.kernel, counts.copy_ns, kNotSeen)};
}

Memory memory_of(const ProcessMemory& memory) {
  constexpr const char* kWhy = "the process had ended when an interval ended, or belongs to another user";
  constexpr const char* kRarely =
      "not read at that moment: reading it holds up the process, so it is limited to 1 % of the time";
  return {{memory.rss, kWhy}, {memory.pss, memory.rss ? kRarely : kWhy}, {memory.vsz, kWhy}};
}

MappingKind kind_of(const MappingFaults& mapping) {
  if (mapping.name.empty()) return MappingKind::kAnonymous;
  if (mapping.name == "[heap]") return MappingKind::kHeap;
  if (mapping.name == "[stack]") return MappingKind::kStack;
  if (mapping.name[0] == '/') return MappingKind::kFile;
  return mapping.end == 0 ? MappingKind::kUnknown : MappingKind::kSpecial;
}

Process process_of(const TracedProcess& traced, const Seen& seen) {
  Process process{memory_of(traced.memory), traced.pid, traced.parent, traced.name, counts_of(traced.counts, seen), {}};
  for (const MappingFaults& mapping : traced.mappings) {
    process.mappings.push_back(
        {mapping.begin, mapping.end, kind_of(mapping), mapping.name, counts_of(mapping.counts, seen)});
  }
  return process;
}

Interval interval_of(const FaultInterval& traced, const Seen& seen, bool all_counted) {
  FaultCounts totals;
  Interval interval{
      traced.from_s, traced.to_s, traced.began, traced.ended, {}, {}, NotAvailable{"some processes are not counted"}};
  for (const auto& [pid, process] : traced.processes) {
    totals.add(process.counts);
    interval.processes.push_back(
        {memory_of(process.memory), pid, process.child, counts_of(process.counts, seen), sharing_of(process)});
  }
  interval.counts = counts_of(totals, seen);
  if (all_counted) interval.pss = pss_of(traced);
  return interval;
}

/// Half the width of the 95 % confidence interval; n/a with too few windows. The width includes bursts that fall
/// between windows: at most 3/N of the unseen faults, if N random windows show no burst (Hanley and Lippman-Hand, If
/// nothing goes wrong, is everything all right?, 1983).
Measured<std::uint64_t> half_width(double variance, const FaultData& data) {
  constexpr std::uint64_t kFewest = 10;
  const std::uint64_t windows = data.sampling->windows;
  if (windows < kFewest) return NotAvailable{fmt::format("fewer than {} windows", kFewest)};
  const std::uint64_t unseen = data.handled > data.sampling->recorded ? data.handled - data.sampling->recorded : 0;
  const double burst = 3.0 * static_cast<double>(unseen) / static_cast<double>(windows);
  return static_cast<std::uint64_t>(std::ceil(std::max(1.96 * std::sqrt(variance), burst)));
}

Measured<Sampling> sampling_of(const FaultData& data) {
  if (!data.sampling) return NotAvailable{"every fault was recorded"};
  const auto& variance = data.sampling->variance;
  const std::uint64_t windows = data.sampling->windows;
  return Sampling{
      data.sampling->recorded,
      windows,
      {half_width(variance.copies, data), half_width(variance.reuses, data), half_width(variance.zero_fills, data)}};
}

/// Bounds of the counts if faults were classified only by the number of processes that share each page. A page that was
/// dropped after the last classification (by MADV_DONTNEED, or by MADV_WIPEONFORK at the fork) is filled with zeros. A
/// page that moved (mremap) may be copied.
Measured<Bounds> bounds_of(const FaultData& data) {
  if (!data.bounds) return NotAvailable{"each fault is classified by the pages that the kernel allocated in it"};
  const auto bound = [&](const CountBounds& counts) {
    Bound found{std::nullopt,
                {counts.at_most,
                 "a process was not watched to its end, or system calls populated pages while faults were sampled"}};
    if (data.every_fault) found.at_least = counts.at_least;
    return found;
  };
  return Bounds{bound(data.bounds->copies), bound(data.bounds->zero_fills)};
}

std::vector<Unwatched> unwatched_of(const FaultData& data) {
  std::vector<Unwatched> found;
  for (const UnwatchedProcess& each : data.unwatched) {
    found.push_back({each.pid, each.name, {each.faults, "only root can watch a process again"}});
  }
  return found;
}

Measured<std::vector<Forks>> forks_of(const FaultData& data) {
  if (!data.forks) return NotAvailable{"the calls that start processes are visible only to root"};
  const bool known = data.lost == 0 && !data.sampling;
  const char* const why = data.lost != 0 ? "events were lost" : "not every allocation was recorded";
  std::vector<Forks> all;
  for (std::size_t i = 0; i < kForkWays; ++i) {
    const ForkSums& sums = data.forks->at(i);
    if (sums.processes == 0) continue;
    all.push_back({static_cast<ForkWay>(i), sums.processes, sums.kernel_ns, sums.longest_ns,
                   known_if(known, sums.page_tables, why), known_if(known, sums.copied_pages, why)});
  }
  return all;
}

Measured<InSystemCalls> in_system_calls_of(const FaultData& data) {
  if (data.in_system_calls) return InSystemCalls{data.in_system_calls->copies, data.in_system_calls->zero_fills};
  return NotAvailable{data.every_fault ? "not every fault was recorded" : kNotSeen};
}

/// Faults that the kernel counted for the program and its waited-for descendants, although no exception reported them.
Measured<std::uint64_t> unclassified_of(const CowSubject& subject, const FaultData& data) {
  // Each process has some faults without an exception before and during its exec.
  constexpr std::uint64_t kOfStart = 200;
  if (!subject.minor_faults) return NotAvailable{"the program's own count of faults is unknown"};
  if (subject.counted != "all") return NotAvailable{"some processes are not counted"};
  if (data.sampling || data.lost > 0) return NotAvailable{"not every fault was recorded"};
  if (!data.unwatched.empty()) return NotAvailable{"the kernel ended the watch of a process at an exec"};
  std::uint64_t known = 0;
  for (const TracedProcess& process : data.processes) known += process.counts.all();
  if (data.processes.empty()) return NotAvailable{"the program was not seen"};
  return *subject.minor_faults > known + kOfStart * data.processes.size() ? *subject.minor_faults - known : 0;
}

}  // namespace

Cow cow_result(const CowSubject& subject, const FaultData& data, Json environment) {
  const Seen seen{data.every_fault, !data.sampling};
  Cow cow;
  cow.schema = "zerotax.cow/1";
  cow.zerotax_version = ZEROTAX_VERSION;
  cow.started = subject.started;
  cow.environment = std::move(environment);
  cow.command = subject.command;
  cow.pid = subject.pid;
  cow.exit_status = subject.exit_status;
  cow.method = data.every_fault ? Method::kTracepoints : Method::kSoftware;
  cow.counted = subject.counted;
  cow.interval_s = subject.interval_s;
  cow.wall_s = subject.wall_s;
  cow.buffer_bytes = data.buffer_bytes;
  if (data.log)
    cow.faults_file = FaultsFile{data.log->path, data.log->written, data.log->not_written, data.log->problem};
  FaultCounts totals;
  for (const TracedProcess& process : data.processes) {
    totals.add(process.counts);
    cow.processes.push_back(process_of(process, seen));
  }
  cow.totals = {counts_of(totals, seen), data.lost, data.handled};
  if (subject.counted != "all") {
    cow.totals.handled = NotAvailable{"counted for all processes together, some of which are left out here"};
  }
  cow.sampling = sampling_of(data);
  cow.bounds = bounds_of(data);
  if (!data.unwatched.empty()) cow.unwatched = unwatched_of(data);
  if (!data.running.empty()) cow.running = data.running;
  cow.unclassified = unclassified_of(subject, data);
  cow.in_system_calls = in_system_calls_of(data);
  cow.forks = forks_of(data);
  for (const FaultInterval& interval : data.intervals) {
    cow.intervals.push_back(interval_of(interval, seen, subject.counted == "all"));
  }
  cow.script_names = data.scripts.list();
  cow.stacks = NotAvailable{"not asked for (--stacks)"};
  if (data.stacks) cow.stacks = Stacks{data.stacks->taken, data.stacks->lost, data.stacks->skipped};
  for (const CodeFaults& code : data.code) {
    cow.code.push_back({code.frame.function, code.frame.module, counts_of(code.counts, seen), std::nullopt});
    if (!code.through.empty()) cow.code.back().through = code.through;
    if (!code.frame.after.empty()) cow.code.back().after = code.frame.after;
  }
  cow.writers.emplace();
  for (const WriterCopies& each : data.writers) {
    const std::optional<std::string> module = each.module.empty() ? std::nullopt : std::optional(each.module);
    cow.writers->push_back({each.writer, module, each.copies, each.by_children, each.bytes});
  }
  return cow;
}

Json cow_json(const Cow& cow) { return cow; }

Cow read_cow(const Json& json) { return json.get<Cow>(); }

}  // namespace zerotax::cow
