#include "record/preload/known_stacks.h"

#include "os/page.h"
#include "record/preload/own_memory.h"
#include "record/preload/resident.h"

namespace zerotax::record {
namespace {

/// Changes whenever a stack is mapped, because a new stack may be shorter than an old one at the same place.
constinit std::atomic<std::uint32_t> stack_epoch{0};

/// Whether the word at `place` is certain to be readable. `here` is an address on the current stack, below `place`.
/// Pages of other threads' stacks have marks.
bool is_on_stack(std::uintptr_t here, std::uintptr_t place) {
  if (place < here || place - here >= StackMemory::kFarthest || place % sizeof place != 0) return false;
  return is_on_first_stack(here, place) || mark_at(place) == kOfStack;
}

/// Whether the current stack has these return addresses.
bool is_current(std::uintptr_t here, const KnownStack& stack) {
  std::uintptr_t readable = 0;  // number of a page of the stack
  for (std::uint32_t i = 0; i < stack.depth && i < kFrames; ++i) {
    const std::uintptr_t place = stack.places[i];
    if (place / page_bytes() != readable && !is_on_stack(here, place)) return false;
    readable = place / page_bytes();
    if (*reinterpret_cast<const std::uint64_t*>(place) != stack.values[i]) return false;
  }
  return stack.depth != 0;
}

/// Calls visit(stack) for the known stacks that a frame may have, until a call returns true. Stacks that another thread
/// uses are left out.
template <typename Visit>
bool for_known_stacks(KnownStacks& stacks, std::uintptr_t here, std::uintptr_t frame, Visit visit) {
  if (!is_on_stack(here, frame)) return false;
  // The frame's first word is the return address of the called function.
  const std::uint64_t hash = (frame ^ *reinterpret_cast<const std::uint64_t*>(frame)) * 0x9e3779b97f4a7c15;
  for (KnownStack& stack : stacks[(hash >> 32) % kKnownSets]) {
    if (stack.taken.exchange(1, std::memory_order_acquire) != 0) continue;
    const bool done = visit(stack);
    stack.taken.store(0, std::memory_order_release);
    if (done) return true;
  }
  return false;
}

}  // namespace

void forget_known_stacks() { ++stack_epoch; }

std::uint32_t known_site(KnownStacks& stacks, std::uintptr_t here, std::uintptr_t frame) {
  std::uint32_t site = 0;
  for_known_stacks(stacks, here, frame, [&](const KnownStack& stack) {
    const bool same = stack.frame == frame && stack.epoch == stack_epoch && is_current(here, stack);
    if (same) site = stack.site;
    return same;
  });
  return site;
}

void remember_stack(KnownStacks& stacks, std::uintptr_t here, std::uintptr_t frame, const Stack& found,
                    std::uint32_t site) {
  static constinit std::atomic<std::uint32_t> next{0};
  std::uint32_t skipped = next.fetch_add(1, std::memory_order_relaxed) % kKnownWays;
  if (!found.is_plain) return;
  for_known_stacks(stacks, here, frame, [&](KnownStack& stack) {
    if (skipped-- != 0) return false;
    stack.frame = frame;
    stack.site = site;
    stack.epoch = stack_epoch;
    stack.depth = found.depth;
    for (std::uint32_t i = 0; i < found.depth; ++i) {
      stack.places[i] = found.places[i];
      stack.values[i] = found.addresses[i] + 1;
    }
    if (!is_current(here, stack)) stack.depth = 0;
    return true;
  });
}

}  // namespace zerotax::record
