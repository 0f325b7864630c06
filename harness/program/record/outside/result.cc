#include "record/outside/result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/printable.h"
#include "base/statistics.h"
#include "base/units.h"
#include "observe/running_process.h"
#include "os/child.h"
#include "os/elf_file.h"
#include "os/environment.h"
#include "os/page.h"
#include "os/process_info.h"
#include "os/regular_file.h"
#include "record/evidence.h"
#include "record/remedies.h"
#include "record/tax.h"

namespace zerotax::record {
namespace {

constexpr const char* kInside = "seen by zerotax's library only, which is not in this program";
constexpr const char* kNoSamples = "nothing was sampled";
constexpr const char* kKernelHidden = "sampling the kernel's time needs root, or kernel.perf_event_paranoid 1";
constexpr const char* kNoNames = "the kernel hides the names of its functions (kernel.kptr_restrict)";
constexpr std::size_t kMostListed = 1'000;

void set_not_seen(Zeroing& zeroing) {
  for (Count Zeroing::*each : {&Zeroing::zeroing_stores, &Zeroing::zeroed_bytes, &Zeroing::redundant_zeroed_bytes,
                               &Zeroing::zero_ns, &Zeroing::zero_cpu_ns, &Zeroing::zero_faults}) {
    zeroing.*each = NotAvailable{kInside};
  }
}

void set_not_seen(Metrics& metrics) {
  set_not_seen(static_cast<Zeroing&>(metrics));
  for (Zeroing* each : {&metrics.by_hand, &metrics.by_program, &metrics.in_free}) set_not_seen(*each);
  for (Count Metrics::*each :
       {&Metrics::calloc_calls, &Metrics::requested_bytes, &Metrics::malloc_calls, &Metrics::malloc_bytes,
        &Metrics::realloc_calls, &Metrics::realloc_bytes, &Metrics::free_calls, &Metrics::mapping_calls}) {
    metrics.*each = NotAvailable{kInside};
  }
  Returned& returned = metrics.returned;
  returned.calls = returned.bytes = returned.cpu_ns = metrics.offered_bytes = NotAvailable{kInside};
}

bool sees_kernel(const OutsideData& data) { return data.profile.sees_kernel && data.denied.empty(); }

std::string why_no_kernel(const OutsideData& data) {
  if (!data.denied.empty() || data.cpu.all == 0) return kNoSamples;
  return sees_kernel(data) ? kNoNames : kKernelHidden;
}

bool names_kernel(const OutsideData& data) {
  return sees_kernel(data) && data.profile.knows_kernel_names && data.cpu.all != 0;
}

/// Minimum number of samples for a verdict. A cause that is absent from 50 samples may still take 7 % of the time.
constexpr std::uint64_t kFewestSamples = 50;
/// Minimum CPU time for a verdict without samples, because CPU time is then counted in the kernel's ticks.
constexpr std::int64_t kLeastTickedNs = 500'000'000;

bool is_started(const OutsideData& data) { return data.watched == Watched::kCommand; }

std::int64_t all_ns(const OutsideData& data) { return data.user_ns + data.system_ns; }

/// Returns why the observed CPU time is too little for any verdict; empty if it is enough.
std::string too_few(const OutsideData& data) {
  if (data.denied.empty() && data.cpu.all < kFewestSamples) {
    return fmt::format("too few samples: {} of CPU time, and a verdict needs {}", format_count(data.cpu.all),
                       kFewestSamples);
  }
  if (data.denied.empty() || is_started(data) || all_ns(data) >= kLeastTickedNs) return "";
  return fmt::format("too little CPU time: {}, and a verdict without samples needs {}",
                     format_ns(as_double(static_cast<std::uint64_t>(all_ns(data)))),
                     format_ns(as_double(kLeastTickedNs)));
}

/// Stores in `out` how to get more samples. If there are fewer samples than the minimum, the goal is twice the minimum.
/// Otherwise, the goal is four times the present number of samples, which halves an interval.
void put_longer(const OutsideData& data, OutsideTimes& out) {
  const double seen = data.denied.empty()
                          ? as_double(std::max<std::uint64_t>(1, data.cpu.all)) / kFewestSamples
                          : as_double(static_cast<std::uint64_t>(std::max<std::int64_t>(10'000'000, all_ns(data)))) /
                                as_double(kLeastTickedNs);
  const double times = seen < 1 ? std::max(2.0, 2 / seen) : 4;
  if (is_started(data)) {
    out.longer = fmt::format("give the program about {:.0f} times the work", std::ceil(times));
    return;
  }
  const double seconds = std::max(1.0, times * static_cast<double>(data.wall_ns) / 1e9);
  const double digits = std::pow(10, std::max(0.0, std::floor(std::log10(seconds)) - 1));
  out.longer_seconds = as_count(std::ceil(seconds / digits) * digits);
  out.longer = fmt::format("watch for about {} s (--seconds)", out.longer_seconds);
}

std::uint64_t cpu_ns(const OutsideData& data) { return static_cast<std::uint64_t>(data.user_ns + data.system_ns); }

OutsideTimes times_of(const OutsideData& data, const KernelPart& kernel) {
  OutsideTimes times;
  const CpuSamples& cpu = data.cpu;
  times.user_ns = static_cast<std::uint64_t>(data.user_ns);
  times.system_ns = static_cast<std::uint64_t>(data.system_ns);
  times.too_few = too_few(data);
  put_longer(data, times);
  times.returned_bytes = known_if(kernel.known(), kernel.returned, kernel.why_not);
  if (!times.too_few.empty()) {
    times.returning = times.stores = NotAvailable{times.too_few};
    times.user_ns = times.system_ns = cpu_ns(data);
    return times;
  }
  times.returning = NotAvailable{why_no_kernel(data)};
  if (names_kernel(data)) {
    times.returning = *sampled_time(cpu.returning, cpu.all, cpu_ns(data));
    const double zeroing =
        std::min(1.0, as_double(kernel.faults) / as_double(std::max<std::uint64_t>(1, kernel.minor_faults)));
    const auto faulting = static_cast<std::uint64_t>(zeroing * as_double(cpu_ns(data)));
    times.zero_fills = sampled_time(cpu.faults, cpu.all, faulting);
  }
  const std::uint64_t trials = sees_kernel(data) ? cpu.all : cpu.user;
  const auto stores = sampled_time(cpu.zeros, trials, sees_kernel(data) ? cpu_ns(data) : times.user_ns);
  times.stores = stores ? Measured<SampledTime>(*stores) : NotAvailable{kNoSamples};
  return times;
}

/// Returns the allocator's library that a running process has mapped, or an empty string.
std::string allocator_of(pid_t pid) {
  std::string found;
  for (const ProcessMapping& mapping : process_mappings(pid)) {
    const std::string name = allocator_name(mapping.name);
    if (!name.empty() && (found.empty() || name != "glibc")) found = mapping.name;
  }
  return found;
}

bool is_several(const OutsideData& data) {
  return data.watched != Watched::kCommand && data.watched != Watched::kProcess;
}

RunResult run_of(const OutsideData& data) {
  RunResult run;
  run.wall_ns = data.wall_ns;
  run.user_ns = data.user_ns;
  run.system_ns = data.system_ns;
  run.exit_status = NotAvailable{data.ended ? "only the program's parent knows the exit status" : "it still runs"};
  if (is_several(data)) run.exit_status = NotAvailable{"several programs were recorded"};
  if (!data.run) return run;
  run.exit_status = data.run->exit_status;
  if (data.run->signal != 0) run.signal = signal_name(data.run->signal);
  return run;
}

RecordedProcess process_of(const HeldProcess& held, const OutsideData& data, const std::string& allocator) {
  RecordedProcess process;
  process.pid = held.pid;
  process.parent_pid = held.parent;
  process.executable = printable(held.executable);
  process.allocator = allocator.empty() ? "unknown" : printable(allocator);
  process.command = printable(fmt::format("{}", fmt::join(held.words, " ")));
  process.began = held.forked ? Began::kFork : Began::kExec;
  process.started_ns = std::max<std::int64_t>(0, held.first_ns - data.began_ns);
  const bool is_root = data.run && data.run->pid == held.pid;
  process.ended = is_root      ? (data.run->signal != 0 ? signal_name(data.run->signal) : "exit")
                  : held.ended ? "unknown"
                               : kRunning;
  process.wall_ns = held.last_ns - held.first_ns;
  process.user_ns = held.user_ns;
  process.system_ns = held.system_ns;
  set_not_seen(process.figures);
  const NotAvailable together{"counted for all processes together"};
  KernelMetrics& kernel = process.kernel;
  for (Count KernelMetrics::*each :
       {&KernelMetrics::zeroed_bytes, &KernelMetrics::huge_bytes, &KernelMetrics::fresh_bytes,
        &KernelMetrics::refilled_bytes, &KernelMetrics::returned_bytes, &KernelMetrics::zero_fill_faults,
        &KernelMetrics::fault_cpu_ns, &KernelMetrics::zeroed_at_most_bytes}) {
    kernel.*each = together;
  }
  kernel.peak_bytes = held.peak;
  const std::uint64_t faults = is_root ? less(held.faults, data.faults_before_exec) : held.faults;
  kernel.minor_faults = faults;
  kernel.minor_faults_at_least = faults;
  return process;
}

/// Adds notes on processes that were not watched.
void add_scope_notes(const OutsideData& data, std::vector<std::string>& notes) {
  if (!is_several(data)) return;
  if (data.watched == Watched::kUser) {
    notes.emplace_back("Only processes of this user were watched. Root watches all processes.");
  } else if (data.others != 0) {
    notes.push_back(fmt::format("Not watched: {} of other users. Root watches all processes.",
                                format_counted(data.others, "process", "processes")));
  }
  if (!data.counts_joined) {
    notes.emplace_back(
        "Later processes were followed only if a watched process started them. Other later processes can be seen "
        "only with the right to watch CPUs (root or CAP_PERFMON).");
  }
}

/// Returns the processes that belong to the recording and still run.
std::vector<pid_t> running_on(const OutsideData& data) {
  std::set<pid_t> running(data.profile.running.begin(), data.profile.running.end());
  for (const auto& [pid, held] : data.processes) {
    if (!held.ended) running.insert(pid);
  }
  return {running.begin(), running.end()};
}

std::vector<std::string> notes_of(const OutsideData& data, const OutsideKernel& kernel) {
  std::vector<std::string> notes;
  if (!data.denied.empty()) notes.push_back("Nothing was sampled, so no site is known: " + data.denied + ".");
  if (data.profile.lost != 0) {
    notes.push_back(fmt::format(
        "{} lost, or skipped for lack of time. Sites and sampled times come from the other samples, and may be too "
        "low. Counts are not affected.",
        format_counted(data.profile.lost, "sample was", "samples were")));
  }
  if (kernel.method != ZeroedBy::kCounted && !data.light) {
    notes.emplace_back("As root, zerotax counts each page that the kernel zeroes, and samples the kernel's time.");
  }
  if (kernel.unseen_faults * 50 > kernel.part.minor_faults) {
    notes.push_back(fmt::format(
        "{} missed by samples of processes' memory, because the processes ended. They count as fresh memory, so "
        "refilled bytes are a lower bound.",
        format_counted(kernel.unseen_faults, "fault was", "faults were")));
  }
  add_scope_notes(data, notes);
  if (const auto running = running_on(data); data.ended && !running.empty()) notes.push_back(runs_on(running));
  if (data.cpu.unknown_fill != 0) {
    notes.push_back(fmt::format("{} of the CPU in a memset whose byte is not known: stores of zeros are a lower bound.",
                                format_counted(data.cpu.unknown_fill, "sample was", "samples were")));
  }
  if (kernel.part.huge != 0)
    notes.emplace_back("Huge pages were populated, so each site gets bytes in proportion to its faults.");
  return notes;
}

Outside outside_of(const OutsideData& data, const OutsideKernel& kernel, const std::string& why) {
  Outside outside;
  outside.why = why;
  outside.watched = data.watched;
  if (data.pid) outside.pid = *data.pid;
  if (!data.cgroup.empty()) outside.cgroup = printable(data.cgroup);
  outside.zeroed_by = kernel.method;
  outside.cpu_samples = data.cpu.all;
  outside.fault_samples = data.faults.samples;
  outside.return_samples = data.return_samples;
  outside.why_no_returns = data.denied.empty() ? data.profile.why_no_returns : data.denied;
  outside.lost_records = data.profile.lost;
  outside.clearing_cpu_ns = NotAvailable{why_no_kernel(data)};
  if (names_kernel(data)) {
    const auto clearing = sampled_time(data.cpu.clearing, data.cpu.all, cpu_ns(data));
    outside.clearing_cpu_ns = clearing->ns;
    outside.clearing_interval_ns = clearing->interval_ns;
  }
  if (const std::string few = too_few(data); !few.empty()) {
    outside.clearing_cpu_ns = NotAvailable{few};
    outside.clearing_interval_ns = std::nullopt;
  }
  outside.advisable = !data.program.empty() && why_not_preloadable(data.program).empty();
  outside.notes = notes_of(data, kernel);
  return outside;
}

Rates rates_of(const Record& record) {
  const KernelMetrics& kernel = record.totals.kernel;
  const auto per_second = [](const Count& count, std::int64_t ns, const char* of) -> Measured<double> {
    if (!count) return NotAvailable{count.why()};
    if (ns <= 0) return NotAvailable{fmt::format("the kernel counted no {}", of)};
    return as_double(*count) / (static_cast<double>(ns) / 1e9);
  };
  const RunResult& run = record.run;
  return {per_second(kernel.minor_faults, run.wall_ns, "wall time"),
          per_second(kernel.minor_faults, run.user_ns + run.system_ns, "CPU time"),
          per_second(kernel.refilled_bytes, run.wall_ns, "wall time")};
}

/// Returns the larger of two amounts of shared memory: the maximum of any one process at any sample, and the present
/// sum of all processes. In the sum, each page is divided among the processes that map it, so each page counts once.
Count shared_bytes(const OutsideData& data) {
  if (data.processes.empty()) return NotAvailable{"no process was sampled"};
  std::uint64_t most = 0;
  std::uint64_t sum = 0;
  for (const auto& [pid, process] : data.processes) {
    most = std::max(most, process.shared);
    if (!process.ended) sum += rollup_bytes(pid, "Pss_Shmem").value_or(0);
  }
  return std::max(most, sum);
}

std::vector<BesideRow> beside_of(const OutsideData& data) {
  const NotAvailable inside{kInside};
  return {{Beside::kSharedMemory, shared_bytes(data), {}, false, true},
          {Beside::kZeroPages, Count(inside), {}},
          {Beside::kCopiedInFork, Count(NotAvailable{"no counter shows the bytes"}), {}},
          {Beside::kExit, {}, Count(inside)},
          {Beside::kThrottled, {}, data.throttled_ns}};
}

void add_tax(Record& record, const OutsideData& data, const OutsideKernel& kernel) {
  const FaultCost cost = fault_cost({}, kernel.part.huge != 0);
  const OutsideTimes times = times_of(data, kernel.part);
  const Tally nothing{};
  record.tax = make_tax({nothing, kernel.part, cpu_ns(data), {}, {}, &times, beside_of(data)}, cost);
  record.tax.kernel_unknown_processes =
      kernel.part.why_not.empty() ? 0 : std::max<std::size_t>(1, data.processes.size());
  KernelMetrics& metrics = record.totals.kernel;
  metrics = kernel.part.metrics(cost);
  metrics.zeroed_at_least_bytes = kernel.zeroed_at_least;
  if (times.zero_fills) metrics.fault_cpu_ns = times.zero_fills->ns;
  if (kernel.zeroed_interval) {
    metrics.zeroed_interval_bytes = kernel.zeroed_interval;
    // The bounds are the ends of the interval of the sampled estimate, not the estimate itself.
    const auto [low, high] = *kernel.zeroed_interval;
    metrics.zeroed_at_least_bytes = std::min(metrics.zeroed_at_least_bytes, low);
    if (metrics.zeroed_at_most_bytes) {
      metrics.zeroed_at_most_bytes =
          std::max({*metrics.zeroed_at_most_bytes, high, kernel.part.minor_faults * page_bytes()});
    }
  }
  metrics.refilled_interval_bytes = kernel.refilled_interval;
}

/// Files of another user's process are read with the rights of that user.
void put_outside_advice(Record& record, const OutsideData& data) {
  if (!data.pid) return put_advice(record, "", own_variables());
  const auto user = file_user(*data.pid);
  if (!user) return put_advice(record, "", own_variables());
  const FileRights rights(*user);
  put_advice(record, rights ? allocator_of(*data.pid) : "", variables_of(*data.pid));
}

}  // namespace

Record outside_result(const OutsideData& data, const std::string& why, const std::string& started) {
  const OutsideKernel kernel = outside_kernel(data);
  Record record;
  record.schema = "zerotax.record/1";
  record.zerotax_version = ZEROTAX_VERSION;
  record.started = started;
  record.environment = describe_environment();
  record.command = data.command;
  record.run = run_of(data);
  set_not_seen(static_cast<Metrics&>(record.totals));
  record.totals.share_of_wall = record.totals.share_of_cpu = NotAvailable{kInside};
  add_tax(record, data, kernel);
  record.sites =
      outside_sites(data, kernel.part, sees_kernel(data) ? cpu_ns(data) : static_cast<std::uint64_t>(data.user_ns));
  record.kernel_zeroed_elsewhere_bytes = std::uint64_t{0};
  if (data.places.empty()) {
    record.kernel_zeroed_elsewhere_bytes = known_if(kernel.part.known(), kernel.part.zeroed, kernel.part.why_not);
  }
  record.script_names = data.profile.scripts.list();
  for (const auto& [pid, held] : data.processes) {
    if (record.processes.size() == kMostListed) break;
    record.processes.push_back(process_of(held, data, held.ended ? "" : allocator_of(pid)));
  }
  put_outside_advice(record, data);
  record.lost_processes = data.processes.size() - record.processes.size();
  record.outside = outside_of(data, kernel, why);
  if (data.watched != Watched::kCommand) record.outside->rates = rates_of(record);
  if (data.watched == Watched::kCommand) record.forks = forks_outside(data.forks);
  record.store_sizes = data.store_sizes;
  return record;
}

}  // namespace zerotax::record
