#pragma once

#include <cstdint>

#include "os/processor.h"

namespace zerotax::record {

/// The registers that a function preserves (kKeptRegisters), its stack pointer and its return address, at a call. The
/// code in own_stack_*.cc relies on this layout.
struct EntryRegisters {
  std::uint64_t kept[sizeof kKeptRegisters / sizeof kKeptRegisters[0]];
  std::uint64_t stack_pointer;
  std::uint64_t return_address;
};

/// Calls work(argument) on a separate stack of 64 KiB. A signal handler or a coroutine of the program may have a stack
/// of only 4 KiB, too small for the recorder's work. A thread that is already on a separate stack calls work()
/// directly. During the work, the thread's signals are blocked, because a handler may need megabytes of stack; signals
/// of faults are not blocked. Returns false if no stack became free.
bool call_on_own_stack(void (*work)(void*), void* argument);

template <typename Work>
bool on_own_stack(Work work) {
  return call_on_own_stack([](void* argument) { (*static_cast<Work*>(argument))(); }, &work);
}

/// Returns the registers with which the thread entered a separate stack, or nullptr on any other stack.
const EntryRegisters* entry_registers();

/// Frees all separate stacks. Call this in a child of fork: the threads that had taken the stacks exist only in the
/// parent.
void free_own_stacks();

}  // namespace zerotax::record
