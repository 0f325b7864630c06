#pragma once

#include <cstdint>

#include "record/preload/resident_area.h"
#include "record/preload/site.h"

namespace zerotax::record {

/// Recognizes call stacks that were found before, which is much faster than to unwind them. A stack is the same if all
/// its return addresses stand at the same places. `here` is an address of the current function's frame, and `frame` is
/// the address of the called function's frame (ThreadState::mark).
using KnownStacks = KnownStack[kKnownSets][kKnownWays];

/// Call this when a stack is mapped.
void forget_known_stacks();

/// Returns 1 + the index of the site of the current call stack; 0 if the stack is not known.
std::uint32_t known_site(KnownStacks& stacks, std::uintptr_t here, std::uintptr_t frame);
/// Keeps the current call stack, `found`, with 1 + the index of its site. Does nothing if a part of the stack is not
/// certain to be readable.
void remember_stack(KnownStacks& stacks, std::uintptr_t here, std::uintptr_t frame, const Stack& found,
                    std::uint32_t site);

}  // namespace zerotax::record
