#include "os/syscall_counter.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "os/processor.h"
#include "os/signal_view.h"
#include "os/syscall_filter.h"
#include "os/syscall_trap.h"

namespace zerotax {
namespace {

constexpr char kAllow = 0;
constexpr char kBlock = 1;
constexpr const char* kEnded = "the allocator ended the dispatch of system calls";
constexpr const char* kTaken = "the allocator handles SIGSYS itself";

// On every system call of the installing thread it is read, by the kernel where the trap can be ended, else by the
// handler; only that thread writes it.
volatile char selector = kAllow;
std::uint32_t counts[SyscallCounter::kNumbers];
bool stopped_early = false;
bool foreign = false;  ///< stopped by a system call of another architecture
SyscallCounter::Observer* observer = nullptr;
SignalView signals;

/// Calls that work only where they are made: a child would return on a stack that this handler does not have, and the
/// rights of a protection key are a register that the return from the handler restores.
bool must_be_made_in_place(long number) {
#if defined(__x86_64__)
  if (number == SYS_fork || number == SYS_vfork) return true;
#endif
  return number == SYS_clone || number == SYS_clone3 || number == SYS_pkey_alloc;
}

long make(const SystemCall& call) {
  const auto& a = call.arguments;
  return zerotax_syscall(call.number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/// Carries out a call that nobody asked to count, where the trap cannot be ended: of this thread, or of one that it
/// started, whose signals are its own.
void pass_on(const SystemCall& call, ucontext_t& context, bool native) {
  if (!native || must_be_made_in_place(call.number)) return syscall_trap::make_in_place(context, native);
  long result = 0;
  SignalView of_thread;
  SignalView& view = syscall_filter::is_counted_thread() ? signals : of_thread;
  if (!view.carry_out(call, context, result)) result = make(call);
  syscall_trap::set_result(context, result);
}

void on_syscall(int signal, siginfo_t* info, void* interrupted) {
  if (info->si_code <= 0) return signals.handle(signal, info, interrupted);  // a process or thread sent it
  auto& context = *static_cast<ucontext_t*>(interrupted);
  const SystemCall call = syscall_trap::call_of(context);
  const bool native = info->si_arch == kAuditArchitecture;
  if (syscall_trap::is_for_good() && (selector == kAllow || !syscall_filter::is_counted_thread())) {
    return pass_on(call, context, native);
  }
  // The return from another signal's handler is the kernel's doing.
  const bool counts_it = call.number >= 0 && call.number != SYS_rt_sigreturn &&
                         static_cast<std::size_t>(call.number) < SyscallCounter::kNumbers;
  if (counts_it && native) ++counts[call.number];

  if (!native || must_be_made_in_place(call.number)) {
    // Let the thread issue it again, undisturbed.
    stopped_early = true;
    foreign = foreign || !native;
    selector = kAllow;
    return syscall_trap::make_in_place(context, native);
  }
  long result = 0;
  bool done = false;
  {
    const SyscallCounter::Pause pause;
    if (observer != nullptr) observer->before_call(call);
    done = signals.carry_out(call, context, result);
  }
  // A handler of another signal that the call raises is the allocator's, and its calls count.
  if (!done) result = make(call);
  const SyscallCounter::Pause pause;
  if (observer != nullptr) observer->after_call(call, result);
  syscall_trap::set_result(context, result);
}

/// Whether a system call is dispatched now, as it must be between begin() and end().
bool is_dispatching() {
  const std::uint32_t before = counts[SYS_getppid];
  ::syscall(SYS_getppid);
  const bool seen = counts[SYS_getppid] != before;
  counts[SYS_getppid] = before;
  return seen;
}

}  // namespace

const char* SyscallCounter::install() {
  if (syscall_trap::is_for_good() && syscall_filter::is_counted_thread()) return nullptr;
  if (const char* refusal = signals.install(on_syscall, zerotax_sigreturn)) return refusal;
  // From then on SIGSYS may never be blocked.
  if (syscall_trap::is_for_good() && !signals.begin()) return kTaken;
  return syscall_trap::start(&selector);
}

const char* SyscallCounter::begin(Observer* told) {
  std::memset(&counts[0], 0, sizeof counts);
  stopped_early = foreign = false;
  if (!(syscall_trap::is_for_good() ? signals.is_ours() : signals.begin())) return kTaken;
  observer = told;
  selector = kBlock;
  return nullptr;
}

const char* SyscallCounter::end() {
  observer = nullptr;
  const bool ended = selector == kBlock && !signals.taken() && !is_dispatching();
  selector = kAllow;
  if (!syscall_trap::is_for_good()) signals.end();
  return signals.taken() ? kTaken : ended ? kEnded : nullptr;
}

std::uint32_t SyscallCounter::calls(std::size_t number) { return number < kNumbers ? counts[number] : 0; }

bool SyscallCounter::incomplete() { return stopped_early; }

const char* SyscallCounter::why_incomplete() {
  return foreign ? "the call made a system call of i386 programs (int 0x80), and was not followed from then on"
                 : "the call started a thread or process, and was not followed from then on";
}

SyscallCounter::Pause::Pause() : saved_(selector) { selector = kAllow; }
SyscallCounter::Pause::~Pause() { selector = stopped_early || signals.taken() ? kAllow : saved_; }

}  // namespace zerotax
