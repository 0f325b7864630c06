#include "record/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "os/environment.h"
#include "os/program_file.h"
#include "record/metrics.h"
#include "record/sites.h"

namespace zerotax::record {
namespace {

using namespace record;

Json share(const RecordFigures& totals, std::int64_t whole) {
  const std::uint64_t part = totals.zero_ns();
  if (part == 0 && totals.zeroed_bytes() != 0) return not_available("no store of zeros was large enough to be timed");
  if (whole <= 0) return not_available("the kernel counted no time for the run");
  return static_cast<double>(part) / static_cast<double>(whole);
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
  constexpr const char* kCalls[] = {"calloc_calls", "requested_bytes", "malloc_calls",
                                    "malloc_bytes", "realloc_calls",   "realloc_bytes"};
  constexpr const char* kZeroed[] = {"zeroing_stores", "zeroed_bytes", "redundant_zeroed_bytes", "zero_ns",
                                     "zero_faults"};
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
  if (slot.pid == run.pid) return run.signal != 0 ? fmt::format("SIG{}", sigabbrev_np(run.signal)) : "exit";
  if (slot.ended != 0) return "exit";
  return is_running(slot.pid) ? "running" : "unknown";
}

Json process_json(const ProcessSlot& slot, const std::vector<const ProcessSlot*>& all, const RecordArena& arena,
                  const ForegroundResult& run, RecordFigures& totals) {
  RecordFigures sum;
  std::vector<const ThreadBlock*> threads;
  for (const ThreadBlock& block : slot.threads) {
    if (block.state == BlockState::kFree) continue;
    sum.add(block);
    threads.push_back(&block);
  }
  totals.add(sum);
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

Json run_json(const ForegroundResult& run) {
  Json json;
  json["exit_status"] = run.exit_status;
  json["signal"] = run.signal != 0 ? Json(fmt::format("SIG{}", sigabbrev_np(run.signal))) : Json(nullptr);
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
  record["totals"] = nullptr;
  RecordFigures totals;
  Json rows = Json::array();
  for (const ProcessSlot* slot : processes) rows.push_back(process_json(*slot, processes, arena, run, totals));
  record["totals"] = totals.json();
  // Sums of what was seen; n/a only where no process could be seen.
  std::uint32_t common = processes.empty() ? 0 : ~std::uint32_t{0};
  for (const ProcessSlot* slot : processes) common &= slot->gaps;
  withhold(record["totals"], common);
  const bool seen = record["totals"].at("zeroed_bytes").is_number();
  const Json unseen = not_available("the allocator's calls of memset could not be seen");
  record["totals"]["share_of_wall"] = seen ? share(totals, run.wall_ns) : unseen;
  record["totals"]["share_of_cpu"] = seen ? share(totals, run.user_ns + run.system_ns) : unseen;
  record["histogram"] = totals.histogram();
  record["sites"] = record_sites(processes);
  record["processes"] = rows;
  record["not_followed"] = not_followed(arena, processes);
  record["lost_processes"] = arena.lost_processes();
  return record;
}

}  // namespace zerotax::record
