#include <linux/audit.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "os/kernel_version.h"
#include "os/signal_view.h"
#include "os/syscall_counter.h"

// The handler's own system calls, and its return, come from here: the one range of code that is never dispatched.
// The kernel compares the address after the instruction, hence the trap behind the last one.
asm(R"(
  .text
  .globl zerotax_syscall
  .hidden zerotax_syscall
  .globl zerotax_sigreturn
  .hidden zerotax_sigreturn
  .type zerotax_syscall, @function
zerotax_syscall_begin:
zerotax_syscall:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
  ret
zerotax_sigreturn:
  mov $15, %eax
  syscall
  ud2
zerotax_syscall_end:
  .size zerotax_syscall, . - zerotax_syscall
)");
extern "C" {
extern const char zerotax_syscall_begin[] __attribute__((visibility("hidden")));
extern const char zerotax_syscall_end[] __attribute__((visibility("hidden")));
}

namespace zerotax {
namespace {

// From include/uapi/linux/prctl.h.
constexpr int kSetDispatch = 59;
constexpr unsigned long kDispatchOn = 1;
constexpr char kAllow = 0;
constexpr char kBlock = 1;
constexpr const char* kEnded = "the allocator ended the dispatch of system calls";
constexpr const char* kTaken = "the allocator handles SIGSYS itself";

// The kernel reads the selector on every system call of the installing thread; only that thread writes it.
volatile char selector = kAllow;
std::uint32_t counts[SyscallCounter::kNumbers];
bool stopped_early = false;
bool foreign = false;  ///< stopped by a system call of another architecture
SyscallCounter::Observer* observer = nullptr;
SignalView signals;

/// Calls that work only where they are made: a child would return on a stack that this handler does not have, and the
/// rights of a protection key are a register that the return from the handler restores.
bool must_be_made_in_place(long number) {
  return number == SYS_clone || number == SYS_clone3 || number == SYS_fork || number == SYS_vfork ||
         number == SYS_pkey_alloc;
}

void on_syscall(int /*signal*/, siginfo_t* info, void* interrupted) {
  auto& context = *static_cast<ucontext_t*>(interrupted);
  greg_t* registers = context.uc_mcontext.gregs;
  const SystemCall call{registers[REG_RAX],
                        {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10],
                         registers[REG_R8], registers[REG_R9]}};
  // The return from another signal's handler is the kernel's doing.
  const bool counts_it = call.number >= 0 && call.number != SYS_rt_sigreturn &&
                         static_cast<std::size_t>(call.number) < SyscallCounter::kNumbers;
  const bool native = info->si_arch == AUDIT_ARCH_X86_64;
  if (counts_it && native) ++counts[call.number];

  // A call of an i386 program (int 0x80) has numbers and registers of its own.
  if (!native || must_be_made_in_place(call.number)) {
    // Let the thread issue it again, undisturbed.
    stopped_early = true;
    foreign = foreign || !native;
    selector = kAllow;
    registers[REG_RIP] -= 2;  // the length of the instruction, syscall or int 0x80
    return;
  }
  long result = 0;
  bool done = false;
  {
    const SyscallCounter::Pause pause;
    if (observer != nullptr) observer->before_call(call);
    done = signals.carry_out(call, context, result);
  }
  // A handler of another signal that the call raises is the allocator's, and its calls count.
  if (!done) {
    result = zerotax_syscall(call.number, call.arguments[0], call.arguments[1], call.arguments[2], call.arguments[3],
                             call.arguments[4], call.arguments[5]);
  }
  const SyscallCounter::Pause pause;
  if (observer != nullptr) observer->after_call(call, result);
  registers[REG_RAX] = result;
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
  if (const char* refusal = signals.install(on_syscall, zerotax_sigreturn)) return refusal;
  if (::prctl(kSetDispatch, kDispatchOn, &zerotax_syscall_begin[0], zerotax_syscall_end - zerotax_syscall_begin,
              &selector) != 0) {
    return errno == EINVAL ? why_refused(5, 11, "this kernel has no syscall user dispatch (Linux 5.11)",
                                         "prctl(PR_SET_SYSCALL_USER_DISPATCH) is denied in this process, or was left "
                                         "out of this kernel")
                           : "prctl(PR_SET_SYSCALL_USER_DISPATCH) is not permitted here";
  }
  return nullptr;
}

const char* SyscallCounter::begin(Observer* told) {
  std::memset(&counts[0], 0, sizeof counts);
  stopped_early = foreign = false;
  if (!signals.begin()) return kTaken;
  observer = told;
  selector = kBlock;
  return nullptr;
}

const char* SyscallCounter::end() {
  observer = nullptr;
  const bool ended = selector == kBlock && !signals.taken() && !is_dispatching();
  selector = kAllow;
  signals.end();
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
