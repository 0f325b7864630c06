// Functions that end a process without running its destructors; children of fork often call them. These functions first
// close the process's counts. This file also replaces the function syscall, by which a program may end, execute another
// program, or change mappings without the C library's other functions.
#include "record/preload/ending.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "record/preload/calls.h"
#include "record/preload/forks.h"
#include "record/preload/holdings.h"
#include "record/preload/instructions.h"
#include "record/preload/modules.h"
#include "record/preload/nesting.h"
#include "record/preload/process.h"
#include "record/preload/quiet_child.h"
#include "record/preload/redirect.h"
#include "record/preload/resident.h"
#include "record/preload/returns.h"
#include "record/preload/state.h"

#define ZEROTAX_EXPORT extern "C" [[gnu::visibility("default")]]

namespace zerotax::record {
namespace {

[[noreturn]] void end_now(int status) {
  if (is_sharer()) end_sharer();
  if (stays_quiet()) note_quiet_end(false);
  note_end();
  note_allocator_counts();
  // The C library's _exit makes the same system call. The C library's syscall function cannot be used here, because the
  // recorder replaces it.
  while (true) {
    kernel_call(SYS_exit_group, status);
  }
}

using Syscall = long (*)(long, long, long, long, long, long, long);

long first_syscall(long number, long a, long b, long c, long d, long e, long f);

}  // namespace
}  // namespace zerotax::record

extern "C" {

[[gnu::visibility("hidden")]] int zerotax_watched_ioctl(int fd, unsigned long request, void* argument);

/// The C library's syscall, which gets all registers and the stack unchanged, because the call may return twice.
[[gnu::visibility("hidden"), gnu::used]] zerotax::record::Syscall zerotax_real_syscall = zerotax::record::first_syscall;

[[gnu::visibility("hidden"), gnu::used]] long zerotax_watched_syscall(long number, long a, long b, long c, long d,
                                                                      long e, long f) {
  if (number == SYS_exit_group) zerotax::record::end_now(static_cast<int>(a));
  if (number == SYS_ioctl) {
    constexpr auto kCopy = static_cast<std::uint32_t>(UFFDIO_COPY);
    if (static_cast<std::uint32_t>(b) != kCopy) return zerotax_real_syscall(number, a, b, c, d, e, f);
    return zerotax_watched_ioctl(static_cast<int>(a), static_cast<unsigned long>(b), reinterpret_cast<void*>(c));
  }
  if (number == SYS_exit) {
    // The program may have forbidden itself all other system calls (seccomp).
    const bool may_share = zerotax::record::process != nullptr && zerotax::record::process->holdings.sharers_begun != 0;
    if (may_share && zerotax::record::is_sharer()) zerotax::record::end_sharer();
    return zerotax_real_syscall(number, a, b, c, d, e, f);
  }
  if (number != SYS_execve && number != SYS_execveat) {
    if (!zerotax::record::returns_are_watched()) return zerotax_real_syscall(number, a, b, c, d, e, f);
    return zerotax::record::change_by_number(zerotax::record::called_from(), number, {a, b, c, d, e, f});
  }
  if (zerotax::record::is_sharer()) {
    const zerotax::record::SharerEnd end = zerotax::record::end_sharer();
    const zerotax::record::ExecOfFork exec = zerotax::record::note_exec_of_fork();
    const long failed = zerotax_real_syscall(number, a, b, c, d, e, f);
    zerotax::record::take_back(exec);
    zerotax::record::take_back(end);
    return failed;
  }
  // A quiet child reports its faults only in the entry of an exec function, which this call lacks.
  if (zerotax::record::quiet_since() != nullptr) zerotax::record::prepare(zerotax::record::state);
  zerotax::record::note_held_blocks();
  zerotax::record::note_resident_end();
  zerotax::record::close_holdings();
  const zerotax::record::ExecOfFork exec = zerotax::record::note_exec_of_fork();
  const long result = zerotax_real_syscall(number, a, b, c, d, e, f);
  zerotax::record::take_back(exec);
  zerotax::record::reopen_holdings();
  return result;
}
}

namespace zerotax::record {
namespace {

long first_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (void* const found = find_next("syscall")) zerotax_real_syscall = reinterpret_cast<Syscall>(found);
  return zerotax_real_syscall(number, a, b, c, d, e, f);
}

}  // namespace

void watch_end() {
  zerotax_real_syscall = reinterpret_cast<Syscall>(find_next("syscall"));
  void* const own = find_in(kCLibrary, "_exit");
  if (own != nullptr) Redirector().replace(own, reinterpret_cast<void*>(end_now));
}

}  // namespace zerotax::record

ZEROTAX_EXPORT __attribute__((noreturn)) void _exit(int status) { zerotax::record::end_now(status); }

ZEROTAX_EXPORT __attribute__((noreturn)) void _Exit(int status) noexcept { zerotax::record::end_now(status); }
