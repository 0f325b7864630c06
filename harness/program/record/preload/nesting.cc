#include "record/preload/nesting.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <optional>

#include "record/preload/modules.h"
#include "record/preload/own_stack.h"
#include "record/preload/site.h"
#include "record/preload/unwinder.h"

namespace zerotax::record {
namespace {

enum class Nesting { kWithin, kInterrupts, kAfter };

/// Address range of a second library of the allocator (tbbmalloc has one). The range is found when that library calls a
/// function of the recorder.
constinit std::atomic<std::uintptr_t> second_begin{0};
constinit std::atomic<std::uintptr_t> second_end{0};

AddressRange second_library() { return {second_begin, second_end}; }

void note_second_library(const void* caller) {
  dl_find_object object{};
  if (second_begin != 0 || real.find_object(const_cast<void*>(caller), &object) != 0) return;
  // The program itself is not a second library, even if it calls the recorder's functions for its own use.
  if (object.dlfo_link_map->l_name[0] == '\0') return;
  const auto begin = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
  std::uintptr_t none = 0;
  if (second_begin.compare_exchange_strong(none, begin)) {
    second_end = reinterpret_cast<std::uintptr_t>(object.dlfo_map_end);
  }
}

/// Follows the callers up to the frame that contains the mark. Returns nothing if the callers cannot be followed that
/// far.
std::optional<Nesting> follow_to(std::uintptr_t mark) {
  Unwinder unwinder(*entry_registers());
  bool interrupted = false;
  std::uint64_t function = unwinder.address();
  while (unwinder.stack_pointer() <= mark) {
    function = unwinder.address();
    if (!unwinder.step()) {
      // The stack was followed to its end without reaching the mark, so the mark lies on another stack.
      return unwinder.is_whole() ? std::optional(Nesting::kAfter) : std::nullopt;
    }
    interrupted = interrupted || unwinder.is_interrupted();
  }
  if (!is_ours(function)) return Nesting::kAfter;
  return interrupted ? Nesting::kInterrupts : Nesting::kWithin;
}

/// Finds the nesting from the call stack, which takes microseconds.
Nesting nesting_by_stack(const ThreadState& thread, CalledFrom from) {
  if (from.frame > thread.mark) return is_on_signal_stack() ? Nesting::kInterrupts : Nesting::kAfter;
  // Call frame information cannot be found yet.
  if (real.find_object == nullptr) return Nesting::kWithin;
  std::optional<Nesting> found;
  if (!on_own_stack([&] { found = follow_to(thread.mark); })) return Nesting::kWithin;
  if (found == Nesting::kWithin) note_second_library(from.caller);
  if (found == Nesting::kAfter && is_on_signal_stack()) return Nesting::kInterrupts;
  return found.value_or(Nesting::kInterrupts);
}

Nesting nesting_of(const ThreadState& thread, CalledFrom from, AddressRange trusted) {
  // During the recorder's own work, the C library may call a function of the recorder.
  const bool ours = entry_registers() != nullptr || is_ours(reinterpret_cast<std::uintptr_t>(from.caller));
  if (ours || is_just_within(thread, from, trusted) || is_just_within(thread, from, second_library())) {
    return Nesting::kWithin;
  }
  return nesting_by_stack(thread, from);
}

}  // namespace

Arrival::Arrival(ThreadState& thread, CalledFrom from, AddressRange trusted) : thread_(thread) {
  const bool busy = thread.armed == nullptr && (thread.block != nullptr || thread.now.inside == Inside::kOwn);
  if (!busy) {
    counts_ = prepare(thread);
    return;
  }
  if (thread.block == nullptr) return;
  const bool new_child = guard.alive == 0;
  const Nesting nesting = nesting_of(thread, from, trusted);
  // In a new child of fork, the interrupted call continues to count in the parent's block.
  if (nesting == Nesting::kWithin || (new_child && nesting == Nesting::kInterrupts)) return;
  interrupts_ = nesting == Nesting::kInterrupts;
  if (interrupts_) {
    eventful_ = thread.eventful;
    in_allocator_ = thread.in_allocator;
    now_ = thread.now;
    mark_ = thread.mark;
    grown_bytes_ = thread.grown_bytes;
    if (eventful_) call_ = thread.call;
  }
  thread.eventful = false;
  thread.in_allocator = false;
  thread.now = {};
  thread.grown_bytes = 0;
  thread.armed = thread.block;
  counts_ = !new_child || prepare(thread);
}

Arrival::~Arrival() {
  if (!interrupts_) return;
  thread_.armed = nullptr;
  thread_.now = now_;
  thread_.mark = mark_;
  thread_.grown_bytes = grown_bytes_;
  thread_.in_allocator = in_allocator_;
  thread_.eventful = eventful_;
  if (eventful_) thread_.call = call_;
}

}  // namespace zerotax::record
