#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "os/syscall_trap.h"

// Linux has no syscall user dispatch for arm64: it is of the generic entry code (kernel/entry/), which arm64 does not
// use up to Linux 7.2. A filter of seccomp that answers SECCOMP_RET_TRAP does the same, for good.
// Source: Documentation/userspace-api/seccomp_filter.rst.
//
// The filter allows system calls from this range. It sees the address after the instruction, so something must follow
// the last one. A call that must be made in place is made here as well, and x17 holds where the thread continues: a
// function may change that register, so code around a call does not rely on it.
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
namespace {

std::uintptr_t counted_thread = 0;  ///< its thread pointer; of a process that it forked, too

std::uintptr_t thread_pointer() { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

std::uint32_t low_half(std::uintptr_t address) { return static_cast<std::uint32_t>(address); }
std::uint32_t high_half(std::uintptr_t address) { return static_cast<std::uint32_t>(address >> 32); }

}  // namespace

const char* start(volatile char* /*selector*/) {
  const auto begin = reinterpret_cast<std::uintptr_t>(&zerotax_syscall_begin[0]);
  const auto end = reinterpret_cast<std::uintptr_t>(&zerotax_syscall_end[0]);
  if (high_half(begin) != high_half(end)) return "a filter of seccomp cannot tell our own system calls here";
  constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
  constexpr std::uint32_t kAddress = offsetof(seccomp_data, instruction_pointer);
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr std::uint16_t kIfLater = BPF_JMP | BPF_JGE | BPF_K;
  constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
  // Let through: the return from a handler, which finds its frame on the stack, and calls of our own.
  sock_filter program[] = {
      {kLoad, 0, 0, kNumber},              //
      {kIfEqual, 5, 0, SYS_rt_sigreturn},  //
      {kLoad, 0, 0, kAddress + 4},         //
      {kIfEqual, 0, 4, high_half(begin)},  //
      {kLoad, 0, 0, kAddress},             //
      {kIfLater, 0, 2, low_half(begin)},   //
      {kIfLater, 1, 0, low_half(end)},     //
      {kReturn, 0, 0, SECCOMP_RET_ALLOW},  //
      {kReturn, 0, 0, SECCOMP_RET_TRAP},   //
  };
  const sock_fprog filter{sizeof program / sizeof program[0], &program[0]};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0) {
    return refusal() != nullptr ? refusal() : "prctl(PR_SET_SECCOMP) is denied in this process";
  }
  counted_thread = thread_pointer();
  return nullptr;
}

const char* refusal() {
  return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0
             ? nullptr
             : "Linux has no syscall user dispatch on arm64, and this kernel no filters of seccomp";
}

const char* name() { return "filter of seccomp"; }

const char* remedy() { return "run a kernel with CONFIG_SECCOMP_FILTER, and let seccomp permit prctl"; }

bool is_counted_thread() { return counted_thread == thread_pointer(); }

SystemCall call_of(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.regs;
  SystemCall call{static_cast<long>(registers[8]), {}};
  for (std::size_t i = 0; i < std::size(call.arguments); ++i) call.arguments[i] = static_cast<long>(registers[i]);
  return call;
}

void set_result(ucontext_t& context, long result) {
  context.uc_mcontext.regs[0] = static_cast<unsigned long long>(result);
}

bool is_native(const siginfo_t& info) { return info.si_arch == AUDIT_ARCH_AARCH64; }

void make_in_place(ucontext_t& context) {
  context.uc_mcontext.regs[17] = context.uc_mcontext.pc;  // behind the instruction
  context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(&zerotax_in_place[0]);
}

// The filter lets it through: the frame was made while SIGSYS was unblocked.
bool return_from_handler(ucontext_t& /*context*/) { return false; }

}  // namespace zerotax::syscall_trap
