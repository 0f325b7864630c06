#include "record/run_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/printable.h"
#include "base/size.h"
#include "os/huge_pages.h"
#include "os/page.h"
#include "os/pid_namespace.h"
#include "os/process_info.h"

namespace zerotax::record {
namespace {

constexpr auto kEvery = std::chrono::milliseconds(20);

/// Returns the bytes of copied pages in private mappings of files.
std::uint64_t file_copies(ProcessPagemaps& pagemaps, pid_t pid) {
  std::uint64_t pages = 0;
  for (const ProcessMapping& mapping : process_mappings(pid)) {
    // Code has no copied pages, because programs do not write to code.
    if (mapping.inode == 0 || mapping.shared || mapping.executable) continue;
    pagemaps.for_each(pid, {mapping.begin, mapping.end},
                      [&](std::uint64_t, PagemapEntry entry) { pages += entry.of_file() ? 0 : 1; });
  }
  return pages * page_bytes();
}

/// A slot with this many returned bytes is damaged (record/arena.cc).
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;

}  // namespace

bool is_still(pid_t pid, const ProcessSlot& head) {
  const std::string_view executable(&head.executable[0], ::strnlen(&head.executable[0], kPathBytes - 1));
  return process_program(pid).substr(0, kPathBytes - 1) == executable;
}

RunWatch::RunWatch(const RecordArena& arena)
    : arena_(arena),
      counts_(std::in_place),
      huge_bytes_(huge_fault_bytes()),
      pid_namespace_(own_pid_namespace()),
      thread_([this] { run(); }) {}

RunWatch::~RunWatch() {
  end_thread();
  for (const Head& head : heads_) {
    if (head.slot != nullptr) RecordArena::unwatch(head.slot);
  }
}

void RunWatch::run() {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  Clock::time_point due = Clock::now() + kEvery;
  while (!wake_.wait_for(lock, kEvery, [this] { return stopped_; })) {
    // The kernel's reports are lost if they are not read in time, however long the samples take.
    read_counts();
    const auto began = Clock::now();
    if (began < due) continue;
    look_at_heads();
    // Sampling many processes takes at most 2 % of a CPU.
    due = Clock::now() + std::max<Clock::duration>(kEvery, 50 * (Clock::now() - began));
  }
}

bool RunWatch::end_thread() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    stopped_ = true;
  }
  wake_.notify_all();
  thread_.wait();
  return true;
}

void RunWatch::stop() {
  if (!end_thread()) return;
  thread_.join();
  read_counts();
  look_at_heads();
  throttled_ns_ = throttling_.since();
  counted_ = counts_->why_not().empty() && counts_->lost() == 0;
  exact_ = counted_ && counts_->whole();
  counts_.reset();
  // Until here, the members have the values from the start of the watch.
  for (const auto& [member, now] :
       {std::pair(&huge_bytes_, huge_fault_bytes()), std::pair(&compaction_stalls_, read_vm_events().compaction_stalls),
        std::pair(&memory_waits_ns_, memory_wait_ns())}) {
    *member = now && *member ? std::optional(*now - **member) : std::nullopt;
  }
}

void RunWatch::read_counts() {
  counts_->read(events_);
  std::stable_sort(events_.begin(), events_.end(),
                   [](const TaskEvent& a, const TaskEvent& b) { return a.time_ns < b.time_ns; });
  for (const TaskEvent& event : events_) note(event);
  events_.clear();
}

void RunWatch::look_at_heads() {
  heads_.resize(arena_.slots_used());
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    Head& head = heads_[i];
    if (head.over) continue;
    if (head.slot == nullptr) head.slot = arena_.watch_slot(i);
    if (head.slot == nullptr || look_at(*head.slot)) continue;
    RecordArena::unwatch(head.slot);
    head = {nullptr, true};
  }
}

/// Samples the process of a slot. Any recorded process may change the slot during the reading. Returns whether to read
/// the slot again later.
bool RunWatch::look_at(const ProcessSlot& head) {
  claim(head);
  const std::int64_t started_ns = __atomic_load_n(&head.started_ns, __ATOMIC_RELAXED);
  const pid_t own_pid = __atomic_load_n(&head.pid, __ATOMIC_RELAXED);
  const pid_t pid = this->pid(head);
  // The returned bytes are read before the held bytes. If memory is returned between the two reads, it is missed, but
  // nothing counts twice.
  const std::uint64_t returned = head.holdings.returned_bytes;
  const std::uint64_t own = head.holdings.own_bytes;
  const auto all = resident_parts(pid);
  const std::uint64_t own_bytes = std::max<std::uint64_t>(own, head.holdings.own_bytes);
  const auto faults = process_minor_faults(pid);
  if (pid == 0) return true;
  if (!all || !faults || !is_still(pid, head)) return false;
  if (head.holdings.closed != 0 || returned >= kMostBytes || looks_.size() >= kProcesses) return true;
  const std::uint64_t held = less(all->anonymous - all->swapped, own_bytes);
  ProcessLook& last = looks_[{own_pid, started_ns}];
  last.populated_bytes = std::max(last.populated_bytes, held + returned);
  last.held_bytes = std::max(last.held_bytes, held);
  last.shared_bytes = std::max(last.shared_bytes, all->shared);
  // After an exec, the process has another address space and another slot.
  pagemaps_.forget(pid);
  last.copied_bytes = std::max(last.copied_bytes, file_copies(pagemaps_, pid));
  last.minor_faults = *faults;
  last.cpu_ns = zerotax::process_cpu_ns(pid).value_or(last.cpu_ns);
  return true;
}

bool RunWatch::is_elsewhere(const ProcessSlot& slot) const {
  return slot.pid_namespace != 0 && pid_namespace_ != 0 && slot.pid_namespace != pid_namespace_;
}

/// Finds the kernel's counts of a slot's process by its PID. A PID of another namespace identifies no process here. For
/// such a slot, the first suitable process is chosen: it has no slot yet, had the slot's name, and was forked or
/// executed a program before the slot was made.
void RunWatch::claim(const ProcessSlot& head) {
  const SlotKey key{head.pid_namespace, head.pid};
  if (claimed_.contains(key)) return;
  if (!is_elsewhere(head)) {
    const auto known = by_pid_.find(head.pid);
    if (known != by_pid_.end()) claimed_[key] = known->second.back();
    return;
  }
  const std::string name = printable({&head.name[0], ::strnlen(&head.name[0], sizeof head.name)});
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const ProcessCounts& counted = processes_[i];
    const auto& times = counted.execs;
    const bool began = head.forked != 0 ? counted.began_ns != 0 && counted.began_ns <= head.started_ns
                                        : !times.empty() && times.front() <= head.started_ns;
    const bool has_name = std::find(counted.names.begin(), counted.names.end(), name) != counted.names.end();
    const auto is_its = [&](const auto& each) { return each.second == i; };
    if (!began || !has_name || std::any_of(claimed_.begin(), claimed_.end(), is_its)) continue;
    claimed_[key] = i;
    return;
  }
}

ProcessCounts& RunWatch::process(pid_t pid) {
  std::vector<std::size_t>& all = by_pid_[pid];
  if (all.empty()) return begin(pid);
  return processes_[all.back()];
}

ProcessCounts& RunWatch::begin(pid_t pid) {
  by_pid_[pid].push_back(processes_.size());
  processes_.emplace_back();
  processes_.back().pid = pid;
  return processes_.back();
}

void RunWatch::note(const TaskEvent& event) {
  forks_.note(event);
  if (event.kind == TaskEvent::Kind::kFlags) return;
  if (event.kind == TaskEvent::Kind::kFork) {
    const std::string name = process(event.parent).name;
    ProcessCounts& child = begin(event.pid);
    child.parent = event.parent;
    child.began_ns = event.time_ns;
    child.name = name;
    child.names = {name};
    return;
  }
  ProcessCounts& counted = process(event.pid);
  if (event.kind == TaskEvent::Kind::kExec) {
    counted.execs.push_back(event.time_ns);
    counted.name = printable(event.name);
    counted.names.push_back(counted.name);
    counted.mapped = false;
    return;
  }
  if (event.kind == TaskEvent::Kind::kMap) {
    counted.mapped = true;
    return;
  }
  if (event.kind == TaskEvent::Kind::kEnd && !counted.mapped) {
    counted.rights_changed = true;
    return;
  }
  counted.ended = !counted.rights_changed;
  counted.ended_ns = event.time_ns;
  if (event.kind == TaskEvent::Kind::kCounts) {
    counted.minor_faults = counted.minor_faults.value_or(0) + event.minor_faults;
    counted.cpu_ns += event.cpu_ns;
  }
}

const ProcessCounts* RunWatch::counts(const ProcessSlot& slot) const {
  if (is_elsewhere(slot)) {
    const auto claimed = claimed_.find({slot.pid_namespace, slot.pid});
    return claimed != claimed_.end() ? &processes_[claimed->second] : nullptr;
  }
  const ProcessCounts* found = nullptr;
  const auto all = by_pid_.find(slot.pid);
  if (all == by_pid_.end()) return nullptr;
  for (const std::size_t index : all->second) {
    if (processes_[index].began_ns <= slot.started_ns) found = &processes_[index];
  }
  return found;
}

pid_t RunWatch::pid(const ProcessSlot& slot) const {
  if (!is_elsewhere(slot)) return slot.pid;
  const ProcessCounts* const counted = counts(slot);
  return counted != nullptr ? counted->pid : 0;
}

std::optional<ProcessLook> RunWatch::last_look(const ProcessSlot& slot) const {
  const auto found = looks_.find({slot.pid, slot.started_ns});
  return found == looks_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace zerotax::record
