#include <linux/audit.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstring>

#include "os/kernel_version.h"
#include "os/syscall_trap.h"

// Syscall user dispatch (Linux >= 5.11). Source: Documentation/admin-guide/syscall-user-dispatch.rst.
//
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

namespace zerotax::syscall_trap {
namespace {

// From include/uapi/linux/prctl.h.
constexpr int kSetDispatch = 59;
constexpr unsigned long kDispatchOn = 1;

constexpr std::uint64_t kSigsys = std::uint64_t{1} << (SIGSYS - 1);

const char* why() {
  return errno == EINVAL ? why_refused(5, 11, "this kernel has no syscall user dispatch (Linux 5.11)",
                                       "prctl(PR_SET_SYSCALL_USER_DISPATCH) is denied in this process, or was left "
                                       "out of this kernel")
                         : "prctl(PR_SET_SYSCALL_USER_DISPATCH) is not permitted here";
}

}  // namespace

const char* start(volatile char* selector) {
  const auto bytes = static_cast<unsigned long>(zerotax_syscall_end - zerotax_syscall_begin);
  return ::prctl(kSetDispatch, kDispatchOn, &zerotax_syscall_begin[0], bytes, selector) == 0 ? nullptr : why();
}

// To switch off what was never on is permitted where it can be switched on.
const char* refusal() { return ::prctl(kSetDispatch, 0, 0, 0, 0) == 0 ? nullptr : why(); }

const char* name() { return "syscall user dispatch"; }

const char* remedy() { return "run Linux 5.11 or later, and let seccomp permit prctl"; }

bool is_counted_thread() { return true; }

SystemCall call_of(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  return {registers[REG_RAX],
          {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10], registers[REG_R8],
           registers[REG_R9]}};
}

void set_result(ucontext_t& context, long result) { context.uc_mcontext.gregs[REG_RAX] = result; }

// A call of an i386 program (int 0x80) has numbers and registers of its own.
bool is_native(const siginfo_t& info) { return info.si_arch == AUDIT_ARCH_X86_64; }

// The length of the instruction, syscall or int 0x80.
void make_in_place(ucontext_t& context) { context.uc_mcontext.gregs[REG_RIP] -= 2; }

bool return_from_handler(ucontext_t& context) {
  // The frame of the handler that returns is found by the stack pointer: the call is made again, from where it is
  // passed over, on the stack as it was.
  greg_t* registers = context.uc_mcontext.gregs;
  auto* frame = reinterpret_cast<ucontext_t*>(registers[REG_RSP]);
  std::uint64_t mask = 0;
  std::memcpy(&mask, &frame->uc_sigmask, sizeof mask);
  const bool blocked = (mask & kSigsys) != 0;
  mask &= ~kSigsys;
  std::memcpy(&frame->uc_sigmask, &mask, sizeof mask);
  registers[REG_RIP] = reinterpret_cast<greg_t>(&zerotax_sigreturn);
  return blocked;
}

}  // namespace zerotax::syscall_trap
