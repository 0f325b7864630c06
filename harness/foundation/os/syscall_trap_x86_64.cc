#include <sys/prctl.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "os/kernel_version.h"
#include "os/syscall_trap.h"
#include "os/test_hook.h"

// Uses syscall user dispatch (since Linux 5.11). If dispatch is refused, uses a seccomp filter, which is permanent.
// Source: Documentation/admin-guide/syscall-user-dispatch.rst.
//
// The handler's own system calls, and its return, come from this range of code, which is exempt. The kernel compares
// the address after the instruction, so a trap instruction follows the last system call. Under a filter, the
// thread also makes the calls here that the handler cannot make, such as clone. No register is free to hold the address
// where the thread continues, and a child may have another stack. Each original instruction therefore has its own slot.
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
  .balign 8
zerotax_in_place:
  .set slot, 0
  .rept 16
  syscall
  jmp *zerotax_returns + 8 * slot(%rip)
  .set slot, slot + 1
  .endr
zerotax_in_place_i386:
  .set slot, 0
  .rept 16
  int $0x80
  jmp *zerotax_returns + 8 * slot(%rip)
  .set slot, slot + 1
  .endr
zerotax_syscall_end:
  .size zerotax_syscall, . - zerotax_syscall
)");
extern "C" {
extern const char zerotax_syscall_begin[] __attribute__((visibility("hidden")));
extern const char zerotax_in_place[] __attribute__((visibility("hidden")));
extern const char zerotax_in_place_i386[] __attribute__((visibility("hidden")));
extern const char zerotax_syscall_end[] __attribute__((visibility("hidden")));
/// Addresses where threads continue. A slot that was assigned an address keeps it.
__attribute__((visibility("hidden"), used)) constinit std::atomic<std::uintptr_t> zerotax_returns[16]{};
}

namespace zerotax::syscall_trap {
namespace {

// From include/uapi/linux/prctl.h.
constexpr int kSetDispatch = 59;
constexpr unsigned long kDispatchOn = 1;

constexpr std::uint64_t kSigsys = std::uint64_t{1} << (SIGSYS - 1);

constexpr std::size_t kInPlaceBytes = 8;  // bytes of code per slot

const char* why_no_dispatch() {
  return errno == EINVAL ? why_refused(5, 11, "this kernel has no syscall user dispatch (needs Linux 5.11 or later)",
                                       "prctl(PR_SET_SYSCALL_USER_DISPATCH) is denied in this process, or is "
                                       "missing from this kernel")
                         : "prctl(PR_SET_SYSCALL_USER_DISPATCH) is not permitted here";
}

bool is_wanted(const char* method) {
  const char* wanted = test_hook("ZEROTAX_SYSCALLS");
  return wanted == nullptr || std::strcmp(wanted, method) == 0;
}

/// Returns why user dispatch is unavailable, or nullptr if it is available. Tested once, before the first begin.
const char* dispatch_refusal() {
  // Switching dispatch off is a test without side effects: the kernel permits it exactly if the kernel permits
  // switching dispatch on.
  static const char* const refusal = !is_wanted("dispatch")                   ? "switched off by ZEROTAX_SYSCALLS"
                                     : ::prctl(kSetDispatch, 0, 0, 0, 0) == 0 ? nullptr
                                                                              : why_no_dispatch();
  return refusal;
}

}  // namespace

bool is_for_good() { return dispatch_refusal() != nullptr; }

const char* start(volatile char* selector) {
  if (!is_for_good()) {
    const auto bytes = static_cast<unsigned long>(zerotax_syscall_end - zerotax_syscall_begin);
    return ::prctl(kSetDispatch, kDispatchOn, &zerotax_syscall_begin[0], bytes, selector) == 0 ? nullptr
                                                                                               : why_no_dispatch();
  }
  const bool started =
      is_wanted("seccomp") && syscall_filter::start(&zerotax_syscall_begin[0], &zerotax_syscall_end[0]) == nullptr;
  return started ? nullptr : dispatch_refusal();
}

const char* refusal() {
  return !is_for_good() || (is_wanted("seccomp") && syscall_filter::is_offered()) ? nullptr : dispatch_refusal();
}

const char* name() { return is_for_good() ? "filter of seccomp" : "syscall user dispatch"; }

const char* remedy() { return "run Linux 5.11 or later, and let seccomp permit prctl"; }

SystemCall call_of(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  return {registers[REG_RAX],
          {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10], registers[REG_R8],
           registers[REG_R9]}};
}

void set_result(ucontext_t& context, long result) { context.uc_mcontext.gregs[REG_RAX] = result; }

void make_in_place(ucontext_t& context, bool native) {
  greg_t* registers = context.uc_mcontext.gregs;
  if (!is_for_good()) {
    registers[REG_RIP] -= 2;  // length of the instruction (syscall or int 0x80)
    return;
  }
  const auto place = static_cast<std::uintptr_t>(registers[REG_RIP]);  // address after the instruction
  const char* code = native ? &zerotax_in_place[0] : &zerotax_in_place_i386[0];
  for (std::atomic<std::uintptr_t>& slot : zerotax_returns) {
    std::uintptr_t found = 0;
    if (slot.compare_exchange_strong(found, place) || found == place) {
      registers[REG_RIP] = reinterpret_cast<greg_t>(code);
      return;
    }
    code += kInPlaceBytes;
  }
  set_result(context, -EAGAIN);
}

bool return_from_handler(ucontext_t& context) {
  // The stack pointer locates the frame of the handler that returns, so the call is made again from the exempt code, on
  // the unchanged stack.
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
