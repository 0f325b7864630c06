#include "record/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "os/child.h"
#include "os/environment.h"
#include "os/process_info.h"
#include "os/program_file.h"
#include "record/kernel_part.h"
#include "record/metrics.h"
#include "record/sites.h"
#include "record/tax.h"

namespace zerotax::record {
namespace {

using namespace record;

constexpr const char* kNotTimed = "no store of zeros was large enough to be timed";

/// Of the CPU time of the program, the recorder's left out on both sides.
Json share_of_cpu(const RecordFigures& totals, const Tax& tax) {
  if (totals.zero_cpu_ns() == 0 && totals.zeroed_bytes() != 0) return not_available(kNotTimed);
  if (tax.cpu_ns == 0) return not_available("the kernel counted no CPU time for the run");
  return tax.share(totals.zero_cpu_ns());
}

/// The most that any one thread spent of the run's wall time, its time under the recorder left out on both sides.
/// Threads zero at the same time, so their sum would be no share.
Json share_of_wall(const RecordFigures& totals, const std::vector<const ProcessSlot*>& processes,
                   std::int64_t wall_ns) {
  if (totals.zero_ns() == 0 && totals.zeroed_bytes() != 0) return not_available(kNotTimed);
  double most = 0;
  for (const ProcessSlot* slot : processes) {
    for (const ThreadBlock& block : slot->threads) {
      if (block.state == BlockState::kFree) continue;
      std::uint64_t zero_ns = 0;
      for (const ZeroCost& cost : block.cost) zero_ns += cost.ns;
      if (zero_ns != 0 && block.merged != 0) return not_available("the times of threads that had ended were added up");
      const double left = static_cast<double>(wall_ns) - static_cast<double>(block.own_ns);
      if (left > 0) most = std::max(most, std::min(1.0, static_cast<double>(zero_ns) / left));
    }
  }
  return most;
}

struct GapWords {
  Gap gap;
  const char* words;
};
constexpr GapWords kGaps[] = {
    {kOwnCalloc, "the program has a calloc of its own, which was called in place of ours: its calls were not seen"},
    {kNoLibcSlots,
     "the C library's own calls of memset were not found (it is not glibc): what its calloc zeroed was not seen"},
    {kNoPagemap, "pages could not be looked at: redundant bytes are unknown"},
    {kThreadsShared, "more than 511 threads at once, or no room for them: the counts of the last ones may be too low"},
    {kSitesLost, "more call stacks than there is room for: some sites are missing"},
    {kNoReturns,
     "the C library's munmap, madvise and brk could not be watched: what was returned to the kernel is unknown"},
    {kBlocksLost, "more large blocks at once than there is room for: by size and site, less is shown than was zeroed"},
    {kHoldsChildren, "forked children that could not open the recording are counted in their parent"},
};

Json gaps(const ProcessSlot& slot) {
  Json words = Json::array();
  for (const GapWords& known : kGaps) {
    if ((slot.gaps & known.gap) != 0) words.push_back(known.words);
  }
  return words;
}

/// What a process's gaps leave unmeasured is n/a, not 0.
void withhold(Json& figures, std::uint32_t gaps) {
  constexpr const char* kCalls[] = {"calloc_calls",  "requested_bytes", "malloc_calls", "malloc_bytes",
                                    "realloc_calls", "realloc_bytes",   "free_calls"};
  constexpr const char* kZeroed[] = {"zeroing_stores", "zeroed_bytes", "redundant_zeroed_bytes",
                                     "zero_ns",        "zero_cpu_ns",  "zero_faults"};
  if ((gaps & kOwnCalloc) != 0) {
    for (const char* key : kCalls)
      figures[key] = not_available("the program's own allocator was called in place of ours");
  }
  if ((gaps & (kOwnCalloc | kNoLibcSlots)) != 0 && figures.at("zeroed_bytes") == 0) {
    for (const char* key : kZeroed) figures[key] = not_available("the allocator's calls of memset could not be seen");
  }
}

Json thread_json(const ThreadBlock& block, std::uint32_t process_gaps) {
  RecordFigures figures;
  figures.add(block);
  Json json;
  json["tid"] = block.tid;
  json["name"] = std::string(&block.name[0], ::strnlen(&block.name[0], sizeof block.name));
  json["threads"] = block.merged + 1;
  json["figures"] = figures.json();
  withhold(json["figures"], process_gaps);
  return json;
}

/// How a process ended, as far as known. An exec leaves the same process, as another program, followed or not.
std::string ending(const ProcessSlot& slot, const std::vector<const ProcessSlot*>& all, const RecordArena& arena,
                   const ForegroundResult& run) {
  for (const ProcessSlot* later : all) {
    if (later->pid == slot.pid && later->started_ns > slot.started_ns) return "exec";
  }
  for (const ExecEntry* entry : arena.execs()) {
    if (entry->pid == slot.pid && entry->failed == 0 && entry->at_ns > slot.started_ns) return "exec";
  }
  if (slot.pid == run.pid) return run.signal != 0 ? signal_name(run.signal) : "exit";
  if (slot.ended != 0) return "exit";
  return is_running(slot.pid) ? "running" : "unknown";
}

/// Sums over the processes.
struct Totals {
  RecordFigures figures;
  KernelPart kernel;             ///< of those whose part is known
  std::size_t kernel_known = 0;  ///< their number
  std::string kernel_why_not;    ///< of the last one whose part is not
  std::uint64_t cpu_ns = 0;      ///< as the processes themselves saw it, the recorder's own included
};

/// Adds one process.
void add_kernel(Totals& totals, const KernelPart& part) {
  if (!part.why_not.empty()) {
    totals.kernel_why_not = part.why_not;
    return;
  }
  totals.kernel.add(part);
  ++totals.kernel_known;
}

Json process_json(const ProcessSlot& slot, const std::vector<const ProcessSlot*>& all, const RecordArena& arena,
                  const ForegroundResult& run, const FaultCost& cost, Totals& totals) {
  RecordFigures sum;
  std::vector<const ThreadBlock*> threads;
  for (const ThreadBlock& block : slot.threads) {
    if (block.state == BlockState::kFree) continue;
    sum.add(block);
    threads.push_back(&block);
  }
  totals.figures.add(sum);
  totals.cpu_ns += process_cpu_ns(slot, sum.tally());
  const KernelPart kernel = kernel_part(slot);
  add_kernel(totals, kernel);
  Json json;
  json["pid"] = slot.pid;
  json["parent_pid"] = slot.parent;
  json["executable"] = &slot.executable[0];
  json["command"] = &slot.command[0];
  json["allocator"] = &slot.allocator[0];
  json["began"] = slot.forked != 0 ? "fork" : "exec";
  json["started_ns"] = slot.started_ns - run.started_ns;
  json["ended"] = ending(slot, all, arena, run);
  const Json no_end = not_available("it did not end by exit(3)");
  json["wall_ns"] = slot.ended != 0 ? Json(slot.ended_ns - slot.started_ns) : no_end;
  json["user_ns"] = slot.ended != 0 ? Json(slot.user_ns) : no_end;
  json["system_ns"] = slot.ended != 0 ? Json(slot.system_ns) : no_end;
  json["gaps"] = gaps(slot);
  json["figures"] = sum.json();
  withhold(json["figures"], slot.gaps);
  json["kernel"] = kernel.json(cost);
  json["lost_blocks"] = slot.holdings.lost_blocks.load();
  json["threads"] = Json::array();
  for (const ThreadBlock* block : threads) json["threads"].push_back(thread_json(*block, slot.gaps));
  return json;
}

/// Programs that were started but recorded nothing.
Json not_followed(const RecordArena& arena, const std::vector<const ProcessSlot*>& processes) {
  Json rows = Json::array();
  for (const ExecEntry* entry : arena.execs()) {
    const bool followed = std::any_of(processes.begin(), processes.end(), [&](const ProcessSlot* slot) {
      return slot->pid == entry->pid && slot->started_ns >= entry->at_ns && slot->forked == 0;
    });
    if (entry->failed != 0 || followed) continue;
    std::string why;
    const std::string file = find_program(&entry->path[0]);
    if (!file.empty()) why = why_not_preloadable(file);
    if (why.empty() && entry->cleaned != 0) why = "was given an environment without LD_PRELOAD";
    if (why.empty()) why = "recorded nothing: it cannot open the recording, or ended too early";
    rows.push_back({{"pid", entry->pid}, {"program", &entry->path[0]}, {"reason", "it " + why}});
  }
  return rows;
}

Json fault_cost_json(const FaultCost& cost) {
  const Json none = not_available("no such page was populated to measure it");
  Json json;
  json["base_ns_per_byte"] = cost.base_ns ? Json(*cost.base_ns) : none;
  json["huge_ns_per_byte"] = cost.huge_ns ? Json(*cost.huge_ns) : none;
  json["samples"] = cost.samples;
  json["measured_in"] = cost.measured_here ? "zerotax, after the run" : "the recorded processes";
  return json;
}

/// The allocator of the process that did most calls.
std::string main_allocator(const std::vector<const ProcessSlot*>& processes) {
  std::uint64_t most = 0;
  std::string name;
  for (const ProcessSlot* slot : processes) {
    std::uint64_t calls = 1;
    for (const ThreadBlock& block : slot->threads) {
      for (const auto& kind : block.calls) {
        for (const CallRow& row : kind) calls += row.calls;
      }
    }
    if (calls > most) name = &slot->allocator[0];
    most = std::max(most, calls);
  }
  return name;
}

Json run_json(const ForegroundResult& run) {
  Json json;
  json["exit_status"] = run.exit_status;
  json["signal"] = run.signal != 0 ? Json(signal_name(run.signal)) : Json(nullptr);
  json["wall_ns"] = run.wall_ns;
  json["user_ns"] = run.user_ns;
  json["system_ns"] = run.system_ns;
  return json;
}

}  // namespace

Json record_json(const RecordTarget& target, const ForegroundResult& run, RecordArena& arena,
                 const std::string& started) {
  const std::vector<const ProcessSlot*> processes = arena.processes();
  Json record;
  record["schema"] = "zerotax.record/1";
  record["zerotax_version"] = ZEROTAX_VERSION;
  record["started"] = started;
  record["environment"] = describe_environment();
  record["command"] = target.words;
  record["allocator"] = target.allocator ? allocator_json(*target.allocator) : Json(nullptr);
  record["run"] = run_json(run);
  record["rule"] = {
      {"large_bytes", kLargeBytes}, {"first_sample_bytes", kFirstSampleBytes}, {"last_sample_bytes", kLastSampleBytes}};
  record["tax"] = nullptr;
  record["totals"] = nullptr;
  const FaultCost cost = fault_cost(processes);
  Totals totals;
  Json rows = Json::array();
  for (const ProcessSlot* slot : processes) rows.push_back(process_json(*slot, processes, arena, run, cost, totals));
  if (totals.kernel_known == 0) totals.kernel.why_not = totals.kernel_why_not;
  record["totals"] = totals.figures.json();
  // Sums of what was seen; n/a only where no process could be seen.
  std::uint32_t common = processes.empty() ? 0 : ~std::uint32_t{0};
  for (const ProcessSlot* slot : processes) common &= slot->gaps;
  withhold(record["totals"], common);
  record["totals"]["kernel"] = totals.kernel.json(cost);
  // The kernel counts the descendants that were waited for; the others count themselves.
  const auto waited = static_cast<std::uint64_t>(run.user_ns + run.system_ns);
  const Tax tax = make_tax(totals.figures.tally(), totals.kernel, cost, std::max(waited, totals.cpu_ns));
  record["tax"] = tax.json();
  record["tax"]["kernel_unknown_processes"] = processes.size() - totals.kernel_known;
  record["tax"]["fault_cost"] = fault_cost_json(cost);
  record["tax"]["advice"] = tax_advice(tax, totals.figures.tally(), main_allocator(processes));
  const bool seen = record["totals"].at("zeroed_bytes").is_number();
  const Json unseen = not_available("the allocator's calls of memset could not be seen");
  record["totals"]["share_of_wall"] = seen ? share_of_wall(totals.figures, processes, run.wall_ns) : unseen;
  record["totals"]["share_of_cpu"] = seen ? share_of_cpu(totals.figures, tax) : unseen;
  record["histogram"] = totals.figures.histogram();
  RecordedScripts scripts(processes);
  record["sites"] = record_sites(processes, scripts);
  record["script_names"] = scripts.names().json();
  record["processes"] = rows;
  record["not_followed"] = not_followed(arena, processes);
  record["lost_processes"] = arena.lost_processes();
  record["arena_bytes"] = arena.used_bytes();
  return record;
}

}  // namespace zerotax::record
