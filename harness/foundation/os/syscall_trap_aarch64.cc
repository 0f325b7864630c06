#include <cstddef>
#include <cstdint>
#include <iterator>

#include "os/syscall_trap.h"

// Linux has no syscall user dispatch for arm64. Dispatch is part of the generic entry code (kernel/entry/), which arm64
// does not use up to Linux 7.2. A seccomp filter serves the same purpose, but permanently. The filter allows system
// calls from this range of code. The filter compares the address after the instruction, so another instruction must
// follow the last system call. The handler cannot make some calls, such as clone. The thread itself makes these calls
// here, and x17 holds the address where the thread continues. Functions may change x17, so code around a call does not
// rely on it.
asm(R"(
  .text
  .balign 64
  .globl zerotax_syscall
  .hidden zerotax_syscall
  .globl zerotax_sigreturn
  .hidden zerotax_sigreturn
  .type zerotax_syscall, %function
zerotax_syscall_begin:
zerotax_syscall:
  .cfi_startproc
  mov x8, x0
  mov x0, x1
  mov x1, x2
  mov x2, x3
  mov x3, x4
  mov x4, x5
  mov x5, x6
  svc #0
  ret
  .cfi_endproc
  .size zerotax_syscall, . - zerotax_syscall
zerotax_in_place:
  svc #0
  br x17
zerotax_sigreturn:
  mov x8, #139
  svc #0
  brk #0
zerotax_syscall_end:
)");
extern "C" {
extern const char zerotax_syscall_begin[] __attribute__((visibility("hidden")));
extern const char zerotax_in_place[] __attribute__((visibility("hidden")));
extern const char zerotax_syscall_end[] __attribute__((visibility("hidden")));
}

namespace zerotax::syscall_trap {

bool is_for_good() { return true; }

const char* start(volatile char* /*selector*/) {
  return syscall_filter::start(&zerotax_syscall_begin[0], &zerotax_syscall_end[0]);
}

const char* refusal() {
  return syscall_filter::is_offered()
             ? nullptr
             : "Linux has no syscall user dispatch on arm64, and this kernel has no seccomp filters";
}

const char* name() { return "filter of seccomp"; }

const char* remedy() { return "run a kernel with CONFIG_SECCOMP_FILTER, and let seccomp permit prctl"; }

SystemCall call_of(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.regs;
  SystemCall call{static_cast<long>(registers[8]), {}};
  for (std::size_t i = 0; i < std::size(call.arguments); ++i) call.arguments[i] = static_cast<long>(registers[i]);
  return call;
}

void set_result(ucontext_t& context, long result) {
  context.uc_mcontext.regs[0] = static_cast<unsigned long long>(result);
}

void make_in_place(ucontext_t& context, bool /*native*/) {
  context.uc_mcontext.regs[17] = context.uc_mcontext.pc;  // address after the instruction
  context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(&zerotax_in_place[0]);
}

// The filter permits the call, because the frame was made while SIGSYS was unblocked.
bool return_from_handler(ucontext_t& /*context*/) { return false; }

}  // namespace zerotax::syscall_trap
