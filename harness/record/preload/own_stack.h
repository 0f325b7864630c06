#pragma once

#include <cstdint>

#include "os/processor.h"

namespace zerotax::record {

/// The registers that a function keeps (kKeptRegisters), its stack pointer and where it continues, at a call. The
/// layout is known to own_stack_*.cc.
struct EntryRegisters {
  std::uint64_t kept[sizeof kKeptRegisters / sizeof kKeptRegisters[0]];
  std::uint64_t stack_pointer;
  std::uint64_t return_address;
};

/// Calls work(argument) on a stack of 64 KiB of our own: what we call may need more than a program has left on a signal
/// handler's or a coroutine's stack, which can be 4 KiB in all. There is one for each thread that is busy so; on one of
/// them already, the call is direct. Meanwhile the thread's signals wait, but for those of faults: a handler may count
/// on megabytes. Returns false if none became free.
bool call_on_own_stack(void (*work)(void*), void* argument);

template <typename Work>
bool on_own_stack(Work work) {
  return call_on_own_stack([](void* argument) { (*static_cast<Work*>(argument))(); }, &work);
}

/// On a stack of our own: the registers with which the thread came here. nullptr elsewhere.
const EntryRegisters* entry_registers();

/// In a child of fork, which has none of the threads that had taken one.
void free_own_stacks();

}  // namespace zerotax::record
