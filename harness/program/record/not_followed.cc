#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/printable.h"
#include "os/elf_file.h"
#include "record/processes.h"

namespace zerotax::record {
namespace {

constexpr const char* kSilent =
    "recorded nothing: it is static, uses another C library, or was started without LD_PRELOAD";
constexpr const char* kStillRuns = "it still ran when the program had ended, so its work is not fully recorded";
constexpr const char* kOnlyForked =
    "is a child that did not call the allocator, or that shared its parent's memory (vfork, CLONE_VM) and is "
    "counted with its parent";
constexpr const char* kRights =
    "got other rights at its exec (setuid, file capabilities, a file that its user may not read): the kernel "
    "stops counting the program and its descendants";
constexpr const char* kDamaged =
    "its part of the recording was overwritten, by the program itself or by a program that shares the recording";
const Count kNone = NotAvailable{"the kernel did not count it"};

/// Adds two counts. The sum is unknown if either count is unknown.
void add(Count& sum, const Count& more) { sum = sum && more ? Count(*sum + *more) : kNone; }

/// Returns why the program of an exec entry recorded nothing.
std::string why_missed(const ExecEntry& entry) {
  const std::string file = find_program(&entry.path[0]);
  std::string why;
  if (!file.empty()) why = why_not_preloadable(file);
  if (why.empty() && entry.cleaned != 0)
    why = "was given an environment without LD_PRELOAD, or without zerotax's library in LD_PRELOAD";
  if (why.empty() && entry.unreachable != 0) {
    why = "runs as another user or is not visible in /proc, and the recording's descriptor was closed";
  }
  return "it " + (why.empty() ? "recorded nothing: it cannot open the recording, or ended too early" : why);
}

bool is_damaged(const RecordArena& arena, pid_t pid) {
  return std::any_of(arena.damaged().begin(), arena.damaged().end(),
                     [&](const DamagedSlot& slot) { return slot.pid == pid; });
}

NotFollowed announced(const ExecEntry& entry) {
  return {entry.pid, &entry.path[0], why_missed(entry), 1, kNone, kNone};
}

/// Adds a row, or merges it with the row that has the same program and reason.
void add(std::vector<NotFollowed>& rows, NotFollowed missed) {
  for (NotFollowed& known : rows) {
    if (known.program != missed.program || known.reason != missed.reason) continue;
    ++known.processes;
    known.running = known.running || missed.running;
    add(known.minor_faults, missed.minor_faults);
    add(known.cpu_ns, missed.cpu_ns);
    return;
  }
  rows.push_back(std::move(missed));
}

/// Returns a row for a process that the kernel counted. Returns nothing if the process's last recording `slot` covers
/// all of its time. `shared`: the faults and CPU time of the process while it shared another process's memory.
std::optional<NotFollowed> missed_of(const ProcessCounts& counts, const ProcessSlot* slot, const RecordArena& arena,
                                     const Count& all_faults, const SharerUse& shared) {
  const bool exec = !counts.execs.empty();
  const bool closed = slot != nullptr && slot->holdings.closed != 0;
  // A process that ended after the counts were read is recorded, but it may have started other processes that appear in
  // no count.
  const bool ended_since = closed && !counts.ended && !counts.rights_changed;
  if (!ended_since && slot != nullptr && (!exec || counts.execs.back() <= slot->started_ns)) return std::nullopt;
  NotFollowed missed{counts.pid, counts.name, std::string("it ") + (exec ? kSilent : kOnlyForked), 1, kNone, kNone};
  if (counts.rights_changed) missed.reason = std::string("it ") + kRights;
  missed.running = !counts.ended && !counts.rights_changed;
  if (ended_since || (missed.running && !exec)) missed.reason = kStillRuns;
  for (const ExecEntry* entry : arena.execs()) {
    if (ended_since || !exec || entry->pid != counts.pid || entry->failed != 0 || entry->at_ns > counts.execs.back())
      continue;
    missed.program = printable(&entry->path[0]);
    missed.reason = why_missed(*entry);
  }
  if (slot == nullptr && is_damaged(arena, counts.pid)) missed.reason = kDamaged;
  const std::uint64_t recorded = slot == nullptr ? shared.faults
                                 : closed        ? slot->holdings.minor_faults
                                                 : slot->holdings.faults_at_open;
  if (all_faults) missed.minor_faults = less(*all_faults, recorded);
  const auto recorded_ns = slot == nullptr ? shared.cpu_ns : static_cast<std::uint64_t>(slot->cpu_ns);
  if (!ended_since && !counts.rights_changed && (counts.minor_faults || counts.cpu_ns != 0))
    missed.cpu_ns = less(counts.cpu_ns, recorded_ns);
  return missed;
}

}  // namespace

NotRecorded not_recorded(const std::vector<NotFollowed>& rows) {
  NotRecorded all;
  for (const NotFollowed& missed : rows) {
    all.processes += missed.processes;
    add(all.minor_faults, missed.minor_faults);
    add(all.cpu_ns, missed.cpu_ns);
  }
  return all;
}

std::vector<NotFollowed> not_followed(const SeenRun& seen, const RecordArena& arena, const ForegroundResult& run,
                                      const RunWatch* watch) {
  const std::vector<const ProcessSlot*>& processes = seen.processes();
  std::vector<NotFollowed> rows;
  const bool counted = watch != nullptr && watch->counted();
  for (const DamagedSlot& slot : arena.damaged()) {
    const bool has_row = counted && std::any_of(watch->processes().begin(), watch->processes().end(),
                                                [&](const ProcessCounts& each) { return each.pid == slot.pid; });
    if (!has_row) add(rows, {slot.pid, slot.executable, kDamaged, 1, kNone, kNone});
  }
  if (!counted) {
    for (const ExecEntry* entry : arena.execs()) {
      const bool followed = std::any_of(processes.begin(), processes.end(), [&](const ProcessSlot* slot) {
        return slot->pid == entry->pid && slot->started_ns >= entry->at_ns && slot->forked == 0;
      });
      if (entry->failed == 0 && !followed && !is_damaged(arena, entry->pid)) add(rows, announced(*entry));
    }
    return rows;
  }
  std::map<const ProcessCounts*, const ProcessSlot*> last;
  for (const ProcessSlot* slot : processes) {
    const ProcessSlot*& known = last[watch->counts(*slot)];
    if (known == nullptr || known->started_ns < slot->started_ns) known = slot;
  }
  // Sharers that ran only in another process's memory, and quiet children, are part of the other process's recording.
  std::set<const ProcessCounts*> sharers;
  for (const ProcessSlot* slot : processes) {
    const SeenRun::Sharers& part = seen.sharers(*slot);
    for (const ProcessCounts* each : part.unreported) {
      if (each->ended) sharers.insert(each);
    }
    sharers.insert(part.quiet.begin(), part.quiet.end());
  }
  for (const ProcessCounts& counts : watch->processes()) {
    const auto shared = seen.shared_use(counts.pid, counts.began_ns, std::numeric_limits<std::int64_t>::max());
    if (sharers.contains(&counts) || (shared && counts.execs.empty() && counts.ended)) continue;
    // For the first process, the faults in `run` are used, because they include faults before the exec, as the
    // recorder's count does.
    Count all_faults = kNone;
    if (watch->exact() && counts.minor_faults && !counts.rights_changed) all_faults = *counts.minor_faults;
    if (counts.pid == run.pid && run.minor_faults) all_faults = *run.minor_faults;
    const auto found = last.find(&counts);
    if (auto missed = missed_of(counts, found != last.end() ? found->second : nullptr, arena, all_faults,
                                shared.value_or(SharerUse{}))) {
      add(rows, std::move(*missed));
    }
  }
  return rows;
}

}  // namespace zerotax::record
