#include "record/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <utility>

#include "base/printable.h"
#include "base/units.h"
#include "files/results.h"
#include "os/child.h"
#include "os/environment.h"
#include "os/pagemap.h"
#include "os/process_info.h"
#include "record/beside.h"
#include "record/evidence.h"
#include "record/kernel_part.h"
#include "record/metrics.h"
#include "record/processes.h"
#include "record/sites.h"
#include "record/tax.h"

namespace zerotax::record {
namespace {

constexpr const char* kUnseenStores = "the allocator's calls of memset could not be seen";
constexpr const char* kNoSizes = "the allocator does not report the size of a block (malloc_usable_size)";
constexpr const char* kOwnAllocator = "the program's own allocator was called in place of the recorder's functions";
constexpr const char* kOtherScope = "calls from a library in its own scope were not seen";
constexpr const char* kNotTimed = "no store of zeros was large enough to be timed";

/// Returns the share of the program's CPU time in large stores of zeros. Neither time includes the recorder's own.
Measured<double> zeroing_share_of_cpu(const Tally& sum, const Tax& tax) {
  const std::uint64_t ns = zeroing_cost(sum).cpu_ns;
  if (ns == 0 && zeroed_bytes(sum) != 0) return NotAvailable{kNotTimed};
  if (tax.cpu_ns == 0) return NotAvailable{"the kernel counted no CPU time for the run"};
  return share_of_cpu(tax, ns);
}

/// Returns the largest share of wall time that a single thread spent in large stores of zeros. Neither time includes
/// the recorder's own. A sum over threads would not be a share, because threads zero at the same time.
Measured<double> zeroing_share_of_wall(const Tally& sum, const std::vector<const ProcessSlot*>& processes,
                                       std::int64_t wall_ns) {
  if (zeroing_cost(sum).ns == 0 && zeroed_bytes(sum) != 0) return NotAvailable{kNotTimed};
  double most = 0;
  for (const ProcessSlot* slot : processes) {
    for (const ThreadBlock& block : slot->threads) {
      if (block.state == BlockState::kFree) continue;
      std::uint64_t zero_ns = 0;
      for (const ZeroCost& cost : block.cost) zero_ns += cost.ns;
      if (zero_ns != 0 && block.merged != 0) return NotAvailable{"the times of threads that had ended were added up"};
      const double left = static_cast<double>(wall_ns) - static_cast<double>(block.own_ns);
      if (left > 0) most = std::max(most, std::min(1.0, static_cast<double>(zero_ns) / left));
    }
  }
  return most;
}

constexpr std::pair<Gap, const char*> kGaps[] = {
    {kOwnCalloc,
     "the program has a calloc of its own, which was called in place of the recorder's, so calls to calloc were not "
     "seen"},
    {kNoLibcSlots,
     "the C library's own calls to memset were not found (it is not glibc): bytes zeroed by its calloc were not seen"},
    {kNoPagemap, "pages could not be examined: redundant and returned bytes are unknown"},
    {kThreadsShared,
     "more than 511 threads at one time, or no room for them: the counts of the last threads may be too low"},
    {kSitesLost, "more call stacks than the recording has room for: some sites are missing"},
    {kNoReturns,
     "the C library's munmap, madvise and brk could not be watched: the memory returned to the kernel is unknown"},
    {kBlocksLost,
     "more large blocks at one time than the recording has room for: sizes and sites show less than was zeroed"},
    {kNoHoldings, "/proc became unreadable: the memory that the process held is unknown"},
    {kNoUsableSize, kNoSizes},
    {kHoldsChildren, "children of fork that could not open the recording are counted in their parent"},
    {kOwnScope,
     "the process opened a library in its own scope (RTLD_DEEPBIND or dlmopen): calls from that library were not seen"},
    {kMadeCode, "the process made code in memory (JIT), whose stores of zeros cannot be seen"},
};

void withhold(Zeroing& zeroing, const char* why) {
  for (Count Zeroing::*zeroed : {&Zeroing::zeroing_stores, &Zeroing::zeroed_bytes, &Zeroing::redundant_zeroed_bytes,
                                 &Zeroing::zero_ns, &Zeroing::zero_cpu_ns, &Zeroing::zero_faults}) {
    zeroing.*zeroed = NotAvailable{why};
  }
}

/// Makes metrics n/a instead of 0 if they were not measured because of the gaps. `gaps` are the gaps of one process, or
/// the gaps that all processes have in common.
template <typename M>
M withheld(M metrics, std::uint32_t gaps) {
  if ((gaps & (kOwnCalloc | kOwnScope)) != 0) {
    for (Count Metrics::*calls :
         {&Metrics::calloc_calls, &Metrics::requested_bytes, &Metrics::malloc_calls, &Metrics::malloc_bytes,
          &Metrics::realloc_calls, &Metrics::realloc_bytes, &Metrics::free_calls}) {
      metrics.*calls = NotAvailable{(gaps & kOwnCalloc) != 0 ? kOwnAllocator : kOtherScope};
    }
  }
  const auto withhold_if_none = [&](Zeroing& zeroing, std::uint32_t by, const char* why) {
    if ((gaps & by) != 0 && zeroing.zeroed_bytes == std::uint64_t{0}) withhold(zeroing, why);
  };
  withhold_if_none(metrics, kOwnCalloc | kNoLibcSlots, kUnseenStores);
  withhold_if_none(metrics.by_hand, kOwnCalloc, kOwnAllocator);
  if ((gaps & kOwnScope) == 0) return metrics;
  // If a calloc in another scope stores zeros, they look like the program's own.
  for (Zeroing* zeroing : {static_cast<Zeroing*>(&metrics), &metrics.by_hand, &metrics.by_program, &metrics.in_free}) {
    withhold(*zeroing, kOtherScope);
  }
  return metrics;
}

Count peak_live_bytes(const ProcessSlot& slot, const RecordArena& arena) {
  if (!arena.counts_live_heap()) return NotAvailable{"not counted in this run"};
  if ((slot.gaps & kOwnCalloc) != 0) return NotAvailable{kOwnAllocator};
  return known_if((slot.gaps & kNoUsableSize) == 0, slot.holdings.peak_live_bytes.load(), kNoSizes);
}

/// Bounds the peak of live bytes. The lower bound is the remembered large blocks. The upper bound adds all other large
/// blocks and all small blocks.
void put_live_bounds(const ProcessSlot& slot, RecordedProcess& process) {
  const Holdings& holdings = slot.holdings;
  process.peak_live_at_least_bytes = holdings.peak_large_live_bytes;
  if ((slot.gaps & (kOwnCalloc | kBlocksLost)) != 0) {
    process.peak_live_at_most_bytes = NotAvailable{"not all blocks were seen"};
    return;
  }
  std::uint64_t most = holdings.peak_large_live_bytes + holdings.large_whole_bytes;
  for (const ThreadBlock& block : slot.threads) {
    if (block.state == BlockState::kFree) continue;
    for (const auto& kind : block.calls) {
      for (std::size_t i = 0; (std::size_t{1} << i) < kLargeBytes; ++i) most += kind[i].bytes;
    }
  }
  process.peak_live_at_most_bytes = most;
}

/// Returns how a process ended, as far as known. After an exec, the same process runs another program, which may or may
/// not be recorded.
std::string ending(const ProcessSlot& slot, const SeenRun& seen, const RecordArena& arena,
                   const ForegroundResult& run) {
  for (const ProcessSlot* later : seen.processes()) {
    if (later->pid == slot.pid && later->started_ns > slot.started_ns) return "exec";
  }
  for (const ExecEntry* entry : arena.execs()) {
    if (entry->pid == slot.pid && entry->failed == 0 && entry->at_ns > slot.started_ns) return "exec";
  }
  if (slot.pid == run.pid) return run.signal != 0 ? signal_name(run.signal) : "exit";
  if (slot.ended != 0) return "exit";
  return is_running(seen.pid(slot)) ? kRunning : "unknown";
}

/// Sums over the processes.
struct Sums {
  Tally tally{};
  KernelPart kernel;
  std::size_t kernel_unseen = 0;  ///< number of processes whose kernel part is not known exactly
  std::uint32_t any_gaps = 0;     ///< gaps that at least one process has
  std::uint32_t all_gaps = ~0U;   ///< gaps that all processes have
  std::uint64_t cpu_ns = 0;       ///< CPU time that the processes measured, including the recorder's own
  std::string allocator;          ///< allocator of the process with the most calls
  std::uint64_t most_calls = 0;
};

Tally tally_of(const ProcessSlot& slot) {
  Tally sum{};
  for (const ThreadBlock& block : slot.threads) {
    if (block.state != BlockState::kFree) sum.add(block);
  }
  return sum;
}

void add(Sums& sums, const ProcessSlot& slot, const SeenRun& seen) {
  const Tally tally = tally_of(slot);
  const KernelPart& kernel = seen.kernel(slot);
  sums.tally.add(tally);
  sums.kernel.add(kernel);
  if (!kernel.why_not.empty()) ++sums.kernel_unseen;
  sums.any_gaps |= slot.gaps;
  sums.all_gaps &= slot.gaps;
  sums.cpu_ns += seen.cpu_ns(slot, tally);
  std::uint64_t calls = 1;
  for (const auto& kind : tally.calls) calls += sum_of(kind).calls;
  if (calls > sums.most_calls) sums.allocator = &slot.allocator[0];
  sums.most_calls = std::max(sums.most_calls, calls);
}

RecordedProcess process_of(const ProcessSlot& slot, const SeenRun& seen, const RecordArena& arena,
                           const ForegroundResult& run, const FaultCost& cost) {
  RecordedProcess process;
  process.pid = slot.pid;
  process.parent_pid = slot.parent;
  process.executable = printable(&slot.executable[0]);
  process.command = printable(&slot.command[0]);
  process.allocator = printable(&slot.allocator[0]);
  process.began = slot.forked != 0 ? Began::kFork : Began::kExec;
  process.started_ns = slot.started_ns - run.started_ns;
  process.ended = ending(slot, seen, arena, run);
  const auto at_end = [&](std::int64_t ns) {
    return known_if(slot.ended != 0, ns, "the end of the process was not seen");
  };
  process.wall_ns = at_end(slot.ended_ns - slot.started_ns);
  process.user_ns = at_end(slot.user_ns);
  process.system_ns = at_end(slot.system_ns);
  for (const auto& [gap, words] : kGaps) {
    if ((slot.gaps & gap) != 0) process.gaps.emplace_back(words);
  }
  const SeenRun::Sharers& sharers = seen.sharers(slot);
  if (!sharers.faults_known || !sharers.bytes_known) process.gaps.emplace_back(kUnseenSharers);
  if (!sharers.children_known) process.gaps.emplace_back(kUnseenChildren);
  process.figures = withheld(metrics_of(tally_of(slot)), slot.gaps);
  process.kernel = seen.kernel(slot).metrics(cost);
  process.lost_blocks = slot.holdings.lost_blocks;
  if (slot.holdings.quiet_begun != 0) process.quiet_children = slot.holdings.quiet_begun;
  process.peak_live_bytes = peak_live_bytes(slot, arena);
  put_live_bounds(slot, process);
  const Holdings& holdings = slot.holdings;
  process.held_elsewhere_bytes = known_if(holdings.closed != 0, holdings.program_mapped_bytes + holdings.image_bytes,
                                          "the end of the process was not seen");
  for (const ThreadBlock& block : slot.threads) {
    if (block.state == BlockState::kFree) continue;
    const std::string name(&block.name[0], ::strnlen(&block.name[0], sizeof block.name));
    process.threads.push_back(
        {block.tid, printable(name), std::uint64_t{block.merged} + 1, withheld(metrics_of(block), slot.gaps)});
  }
  return process;
}

/// Whether the recorder may have changed the timing of threads: a process has several threads, and the recorder takes
/// more than a twentieth of the CPU time. The timing affects the number of an allocator's heaps, and the memory that
/// the allocator trims.
bool changes_timing(const std::vector<const ProcessSlot*>& processes, const Tax& tax) {
  constexpr std::uint64_t kNoticeable = 20;
  return tax.recorder_cpu_ns * kNoticeable > tax.recorder_cpu_ns + tax.cpu_ns &&
         std::any_of(processes.begin(), processes.end(),
                     [](const ProcessSlot* slot) { return slot->threads_used > 1; });
}

Tax tax_of(const Sums& sums, const ForegroundResult& run, const std::vector<NotFollowed>& rows, const FaultCost& cost,
           std::vector<BesideRow> beside) {
  // The kernel counts the descendants that were waited for. Processes that were not waited for count themselves.
  const auto waited = static_cast<std::uint64_t>(run.user_ns + run.system_ns);
  NotRecorded missed = not_recorded(rows);
  const bool running = std::any_of(rows.begin(), rows.end(), [](const NotFollowed& each) { return each.running; });
  // The recorded processes used a part of `waited`; the other processes used the rest.
  if (!missed.cpu_ns && !running) missed.cpu_ns = waited - std::min(waited, sums.cpu_ns);
  const std::uint64_t cpu_ns = std::max(waited, sums.cpu_ns + missed.cpu_ns.value_or(0));
  UnseenStores unseen;
  if ((sums.any_gaps & (kOwnCalloc | kNoLibcSlots)) != 0) unseen.of_allocator = kUnseenStores;
  if ((sums.any_gaps & kOwnCalloc) != 0) unseen.by_hand = kOwnAllocator;
  if ((sums.any_gaps & kOwnScope) != 0) unseen = {kOtherScope, kOtherScope, kOtherScope, true};
  Tax tax = make_tax({sums.tally, sums.kernel, cpu_ns, unseen, missed, nullptr, std::move(beside)}, cost);
  tax.kernel_unknown_processes = sums.kernel_unseen;
  return tax;
}

}  // namespace

Record record_result(const RecordTarget& target, const ForegroundResult& run, RecordArena& arena,
                     const std::string& started, const RunWatch* watch, const ResidentWatch* resident) {
  const SeenRun seen(arena, run, watch);
  const std::vector<const ProcessSlot*>& processes = seen.processes();
  Sums sums;
  for (const ProcessSlot* slot : processes) add(sums, *slot, seen);
  const FaultCost cost = fault_cost(processes, sums.kernel.huge != 0);
  Record record;
  record.schema = "zerotax.record/1";
  record.zerotax_version = ZEROTAX_VERSION;
  record.started = started;
  record.environment = describe_environment();
  record.command = target.words;
  if (target.allocator) record.allocator = allocator_json(*target.allocator);
  record.run = {run.exit_status, {}, run.wall_ns, run.user_ns, run.system_ns};
  if (run.signal != 0) record.run.signal = signal_name(run.signal);
  // process_of() also checks whether a process still runs, so the processes are described before the other parts.
  for (const ProcessSlot* slot : processes) record.processes.push_back(process_of(*slot, seen, arena, run, cost));
  record.not_followed = not_followed(seen, arena, run, watch);
  record.tax = tax_of(sums, run, record.not_followed, cost, beside_of(seen, watch, arena, run, record.not_followed));
  record.tax.timing_changed = changes_timing(processes, record.tax);
  static_cast<Metrics&>(record.totals) = metrics_of(sums.tally);
  // A total is the sum of all known parts. A total is n/a only if no process could be measured, or if bytes may be
  // attributed to the wrong cause.
  record.totals = withheld(record.totals, processes.empty() ? 0 : sums.all_gaps | (sums.any_gaps & kOwnScope));
  record.totals.kernel = sums.kernel.metrics(cost);
  if (!record.totals.zeroed_bytes) {
    record.totals.share_of_wall = record.totals.share_of_cpu = NotAvailable{record.totals.zeroed_bytes.why()};
  } else {
    record.totals.share_of_wall = zeroing_share_of_wall(sums.tally, processes, run.wall_ns);
    record.totals.share_of_cpu = zeroing_share_of_cpu(sums.tally, record.tax);
  }
  record.histogram = histogram_of(sums.tally);
  RecordedScripts scripts(processes);
  RecordedSites sites = record_sites(seen, scripts);
  record.sites = std::move(sites.rows);
  record.kernel_zeroed_elsewhere_bytes = Count(sites.elsewhere_bytes, "the kernel's part is unknown");
  if (resident != nullptr) record.resident = resident->result(seen, scripts, run.started_ns);
  record.forks = forks_of(arena, seen, watch != nullptr ? watch->forks() : NotAvailable{kNotWatched}, scripts);
  record.script_names = scripts.names().list();
  record.huge_pages = huge_bill(processes);
  if (record.huge_pages) {
    const Count unknown = NotAvailable{kNotWatched};
    record.huge_pages->compaction_stalls = watch != nullptr ? watch->compaction_stalls() : unknown;
    record.huge_pages->memory_waits_ns = watch != nullptr ? watch->memory_waits_ns() : unknown;
  }
  put_advice(record, sums.allocator, own_variables());
  record.lost_processes = arena.lost_processes();
  record.arena_bytes = arena.used_bytes();
  return record;
}

}  // namespace zerotax::record
