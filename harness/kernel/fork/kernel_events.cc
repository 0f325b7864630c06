#include "fork/kernel_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "os/held_memory.h"
#include "os/kernel_events.h"
#include "os/trace_event.h"

namespace zerotax::fork {
namespace {

/// Number of watched forks. The events of a fork are read before the next fork, so that no buffer fills up.
constexpr std::uint32_t kForks = 20;

double each(double sum, std::uint64_t forks) { return forks == 0 ? 0 : sum / static_cast<double>(forks); }

/// Indexes into phase_kinds().
enum Kind : std::size_t { kEnter, kLocked, kUnlocked, kNewTask, kWoken, kLeave };

constexpr const char* kNames[] = {"syscalls:sys_enter_clone",     "mmap_lock:mmap_lock_acquire_returned",
                                  "mmap_lock:mmap_lock_released", "task:task_newtask",
                                  "sched:sched_wakeup_new",       "syscalls:sys_exit_clone"};

/// The progress of a fork: the times of its events so far, 0 for events that have not come yet.
struct UnderWay {
  std::uint64_t entered = 0;
  std::uint64_t locked = 0;
  std::uint64_t unlocked = 0;
  std::uint64_t new_task = 0;
  std::uint64_t woken = 0;
  std::uint64_t memory = 0;  ///< the memory whose lock was taken first: the parent's
};

std::optional<std::vector<double>> phases_until(const UnderWay& fork, std::uint64_t left) {
  const std::uint64_t times[] = {fork.entered, fork.locked, fork.unlocked, fork.new_task, fork.woken, left};
  std::vector<double> phases;
  for (std::size_t i = 1; i < std::size(times); ++i) {
    if (times[i - 1] == 0 || times[i] < times[i - 1]) return std::nullopt;
    phases.push_back(static_cast<double>(times[i] - times[i - 1]));
  }
  return phases;
}

}  // namespace

double KernelPages::pages() const {
  double sum = 0;
  for (const auto& [order, its] : orders) sum += static_cast<double>(its.allocations << order);
  return each(sum, forks);
}

double KernelPages::zeroed_pages() const {
  double sum = 0;
  for (const auto& [order, its] : orders) sum += static_cast<double>(its.zeroed << order);
  return each(sum, forks);
}

double KernelPages::contiguous() const {
  double sum = 0;
  for (const auto& [order, its] : orders) sum += order > 0 ? static_cast<double>(its.allocations) : 0;
  return each(sum, forks);
}

KernelPages count_kernel_pages(ForkTarget& target) {
  KernelPages pages;
  target.clone(3);
  pages.parent_table_bytes = page_table_bytes(fmt::format("/proc/{}/status", target.pid()).c_str());
  const KernelEventKind kind = require_tracepoint("kmem:mm_page_alloc");
  KernelEvents watched({kind}, target.pid());
  std::vector<KernelEvent> events;
  for (; pages.forks < kForks; ++pages.forks) {
    target.clone(1);
    watched.read(events);
  }
  for (const KernelEvent& event : events) {
    const PageAllocation allocation = page_allocation_of(*kind.tracepoint, event.raw.data(), event.raw.size());
    if (allocation.movable) continue;
    KernelPages::Order& its = pages.orders[allocation.order];
    ++its.allocations;
    if (allocation.zeroed) ++its.zeroed;
  }
  pages.lost = watched.lost();
  return pages;
}

const std::vector<ForkPhase>& fork_phases() {
  static const std::vector<ForkPhase> kPhases{
      {"before the address space", "sys_enter_clone", "mmap_lock_acquire_returned",
       "task and kernel stack, rights, descriptors, signals, an empty address space"},
      {"address space", "mmap_lock_acquire_returned", "mmap_lock_released", "mappings and page tables (dup_mmap)"},
      {"after it", "mmap_lock_released", "task_newtask", "namespaces, registers, process number, control groups"},
      {"wake-up", "task_newtask", "sched_wakeup_new", "the child is put on a CPU's queue"},
      {"way out", "sched_wakeup_new", "sys_exit_clone", "what is left to do for the parent"},
  };
  return kPhases;
}

std::vector<KernelEventKind> phase_kinds() {
  std::vector<KernelEventKind> kinds;
  for (const char* name : kNames) kinds.push_back(require_tracepoint(name));
  return kinds;
}

ForkPhaseTimes phases_of(const std::vector<KernelEvent>& events, const std::vector<KernelEventKind>& kinds) {
  ForkPhaseTimes times;
  std::optional<UnderWay> fork;
  for (const KernelEvent& event : events) {
    const auto memory = [&] { return kinds[event.kind].tracepoint->number("mm", event.raw.data(), event.raw.size()); };
    if (event.kind == kEnter) {
      times.incomplete += fork ? 1 : 0;
      fork = UnderWay{event.time_ns};
      continue;
    }
    if (!fork) continue;
    switch (event.kind) {
      case kLocked:
        if (fork->locked != 0) break;
        fork->locked = event.time_ns;
        fork->memory = memory();
        break;
      case kUnlocked:
        // Ignores the release of the child's lock, which comes just before that of the parent's lock.
        if (fork->new_task == 0 && memory() == fork->memory) fork->unlocked = event.time_ns;
        break;
      case kNewTask:
        fork->new_task = event.time_ns;
        break;
      case kWoken:
        fork->woken = event.time_ns;
        break;
      case kLeave:
        if (auto phases = phases_until(*fork, event.time_ns)) {
          times.forks.push_back(std::move(*phases));
        } else {
          ++times.incomplete;
        }
        fork.reset();
        break;
      default:
        break;
    }
  }
  times.incomplete += fork ? 1 : 0;
  return times;
}

ForkPhaseTimes time_phases(ForkTarget& target, std::uint32_t forks) {
  const std::vector<KernelEventKind> kinds = phase_kinds();
  target.clone(3);
  KernelEvents watched(kinds, target.pid());
  target.clone(forks);
  std::vector<KernelEvent> events;
  watched.read(events);
  ForkPhaseTimes times = phases_of(events, kinds);
  times.lost = watched.lost();
  return times;
}

}  // namespace zerotax::fork
