#pragma once

#include <cstdint>

#include "os/processor.h"

namespace zerotax::record {

/// The registers that a function preserves (kKeptRegisters), its stack pointer and its return address, at a call.
/// own_stack_*.cc rely on this layout.
struct EntryRegisters {
  std::uint64_t kept[sizeof kKeptRegisters / sizeof kKeptRegisters[0]];
  std::uint64_t stack_pointer;
  std::uint64_t return_address;
};

/// Calls work(argument) on a stack of 64 KiB of our own. Our work may need more stack than a signal handler or a
/// coroutine of the program has left, which can be 4 KiB in all. Each thread that is busy here has a stack; if the
/// thread is already on one, the call is direct. Meanwhile the thread's signals wait, except for those of faults,
/// because a handler may count on megabytes of stack. Returns false if no stack became free.
bool call_on_own_stack(void (*work)(void*), void* argument);

template <typename Work>
bool on_own_stack(Work work) {
  return call_on_own_stack([](void* argument) { (*static_cast<Work*>(argument))(); }, &work);
}

/// The registers with which the thread came to a stack of our own; nullptr on any other stack.
const EntryRegisters* entry_registers();

/// Frees all own stacks. Call it in a child of fork, which has none of the threads that had taken them.
void free_own_stacks();

}  // namespace zerotax::record
