#pragma once

#include <cstddef>
#include <cstdint>

#include "os/syscall_trap.h"

namespace zerotax {

/// Counts the system calls of one thread, by number, between begin() and end(). Each call becomes a SIGSYS, whose
/// handler counts and performs the call. The trap is syscall user dispatch. Before Linux 5.11 and on arm64, the trap is
/// a seccomp filter, which is permanent (os/syscall_trap.h). ZEROTAX_SYSCALLS=dispatch|seccomp|none in the environment
/// limits the choice, so that tests can imitate other kernels. Works within the process, without privilege, once per
/// process. The thread's view of its signals stays unchanged (SignalView in os/syscall_counter.cc).
class SyscallCounter {
 public:
  static constexpr std::size_t kNumbers = 512;

  /// Called for each system call, on the thread that makes the call, within a signal handler. The callback must not
  /// allocate. Its own system calls are not counted.
  class Observer {
   public:
    virtual void before_call(const SystemCall& call) = 0;
    virtual void after_call(const SystemCall& call, long result) = 0;

   protected:
    ~Observer() = default;
  };

  /// Installs the handler for the calling thread. Returns nullptr, or why the calls cannot be counted. If the
  /// trap is permanent, the thread cannot start other programs from now on.
  static const char* install();

  /// Starts counting from zero. Returns nullptr, or why system calls are not (or no longer) counted.
  static const char* begin(Observer* observer = nullptr);
  /// Stops counting. The counts stay until the next begin(). Returns nullptr, or why they are invalid.
  static const char* end();

  /// Returns how often a system call was made since begin().
  static std::uint32_t calls(std::size_t number);
  /// Whether a thread or process was started since begin(), or a system call of another architecture was made. Counting
  /// ends at such a call.
  static bool incomplete();
  static const char* why_incomplete();

  /// While an object of this class lives, system calls of this thread are neither counted nor delayed. The meter makes
  /// its own calls while it holds such an object.
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

/// Returns the name of a system call of this processor, or nullptr if the number is unknown.
const char* syscall_name(std::size_t number);

}  // namespace zerotax
