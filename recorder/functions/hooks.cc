#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "functions/events.h"
#include "functions/modules.h"

// Defines the two functions that code compiled with -finstrument-functions calls (GCC manual, "Program Instrumentation
// Options").

namespace {

/// Whether to record the loaded modules before the next function event. The modules are recorded once per trace, and
/// again in a forked child, which has its own trace.
std::atomic<bool> modules_wanted{true};

[[gnu::noinline, gnu::cold]] void give_modules() {
  if (!zerotax_trace_is_on() || !modules_wanted.exchange(false)) return;
  zerotax::functions::record_modules();
}

void in_child() { modules_wanted.store(true); }

/// At the end of a trace, records the files that the program loaded during the trace.
void trace_changes(int on) {
  if (!modules_wanted.exchange(true) && on == 0) zerotax::functions::record_modules();
}

[[gnu::constructor]] void watch() {
  ::pthread_atfork(nullptr, nullptr, in_child);
  zerotax_trace_watch(trace_changes);
}

}  // namespace

// Address two words below the function's stack pointer, wherever the hook's own frame is. The reader relies on this
// address (harness/program/trace/function_calls.cc).
#if defined(__x86_64__)
#define ZEROTAX_HOOK_STACK reinterpret_cast<std::uint64_t>(__builtin_frame_address(0))
#else
#define ZEROTAX_HOOK_STACK (reinterpret_cast<std::uint64_t>(__builtin_dwarf_cfa()) - 16)
#endif

extern "C" {

ZEROTAX_PUBLIC_ void __cyg_profile_func_enter(void* function, void* /*from*/) {
  if (__builtin_expect(static_cast<long>(modules_wanted.load(std::memory_order_relaxed)), 0) != 0) give_modules();
  zerotax::record(function_entry{.function = reinterpret_cast<std::uint64_t>(function), .stack = ZEROTAX_HOOK_STACK});
}

ZEROTAX_PUBLIC_ void __cyg_profile_func_exit(void* function, void* /*from*/) {
  zerotax::record(function_exit{.function = reinterpret_cast<std::uint64_t>(function)});
}

}  // extern "C"
