#pragma once

#include <ucontext.h>

#include <csignal>

#include "os/undispatched.h"

namespace zerotax {

/// A thread's own view of its signals while its system calls are dispatched by SIGSYS. Dispatch needs that signal
/// unblocked, or the kernel kills the process; and the dispatched calls that change the signal mask or the alternate
/// stack are undone when the handler returns, unless its frame is changed too. All of it is kept from the thread: it
/// finds what it asks for, and what it set stays set once the dispatch ends. Allocates nothing; one thread only.
class SignalView {
 public:
  /// Takes SIGSYS for `handler`. Returns nullptr, or why not: the process handles SIGSYS itself.
  const char* install(void (*handler)(int, siginfo_t*, void*), void (*restorer)());

  /// False if something else has taken the signal since install().
  bool is_ours();
  /// Lets SIGSYS through. False if something else has taken the signal since: dispatch would call that.
  bool begin();
  /// The mask is as the thread left it.
  void end();

  /// A SIGSYS of no system call, for the handler that the thread believes in.
  void handle(int signal, siginfo_t* info, void* interrupted) const;

  /// Carries out a dispatched system call that has to do with signals, and what it changes of the interrupted
  /// thread's `context`. False for any other call. `result` is what the kernel returned.
  bool carry_out(SystemCall call, ucontext_t& context, long& result);

  /// Whether the thread has taken SIGSYS for itself by such a call: its system calls are counted no more.
  [[nodiscard]] bool taken() const { return taken_; }

 private:
  /// struct kernel_sigaction: glibc's sigaction() would put its own return trampoline in, which would itself be
  /// dispatched.
  struct Action {
    void (*handler)(int, siginfo_t*, void*) = nullptr;
    unsigned long flags = 0;
    void (*restorer)() = nullptr;
    std::uint64_t mask = 0;
  };

  long set_mask(const SystemCall& call, ucontext_t& context);
  long set_action(const SystemCall& call);
  static long set_stack(const SystemCall& call, ucontext_t& context);
  void clear_handler_masks();

  Action own_;
  Action believed_;                  ///< what SIGSYS does as far as the thread knows: the default, or nothing
  bool blocked_ = false;             ///< whether the thread has SIGSYS blocked as far as it knows
  std::uint64_t handler_masks_ = 0;  ///< signals whose handlers run with SIGSYS blocked, as far as it knows
  bool taken_ = false;
};

}  // namespace zerotax
