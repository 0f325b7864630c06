#pragma once

#include <cstddef>
#include <cstdint>

#include "os/undispatched.h"

namespace zerotax {

/// Counts the system calls of one thread, by number, between begin() and end(): each comes as SIGSYS to a handler that
/// counts it and carries it out, by syscall user dispatch or, before Linux 5.11 and on arm64, by a filter of seccomp,
/// which stays for good (os/syscall_trap.h). ZEROTAX_SYSCALLS=dispatch|seccomp|none in the environment limits the
/// choice, so that a kernel behaves like another. In process and unprivileged; one per process. The thread's view of
/// its signals stays unchanged (os/signal_view.h).
class SyscallCounter {
 public:
  static constexpr std::size_t kNumbers = 512;

  /// Called for each system call, on the thread that makes it, within the handler of a signal: it may not allocate. Its
  /// own system calls are not counted.
  class Observer {
   public:
    virtual void before_call(const SystemCall& call) = 0;
    virtual void after_call(const SystemCall& call, long result) = 0;

   protected:
    ~Observer() = default;
  };

  /// Installs the handler for the calling thread. Returns nullptr, or why system calls cannot be counted here. Where
  /// the trap stays for good, the thread can no longer start other programs.
  static const char* install();

  /// Counting on, from zero. Returns nullptr, or why system calls are not counted (any more).
  static const char* begin(Observer* observer = nullptr);
  /// Counting off; the counts stay until the next begin(). Returns nullptr, or why they are worthless.
  static const char* end();

  /// Calls of one system call since begin().
  static std::uint32_t calls(std::size_t number);
  /// Whether a thread or process was started since begin(), or a system call of another architecture made: nothing was
  /// counted from then on.
  static bool incomplete();
  static const char* why_incomplete();

  /// While one lives, system calls of this thread are neither counted nor delayed: for the meter's own.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    char saved_;
  };
};

/// The name of a system call of this processor, or nullptr if there is none of this number.
const char* syscall_name(std::size_t number);

}  // namespace zerotax
