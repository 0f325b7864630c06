#include "os/syscall_trap.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "os/processor.h"

namespace zerotax {

bool read_own_memory(long address, void* to, std::size_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(address), bytes};
  const long self = zerotax_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
  return zerotax_syscall(SYS_process_vm_readv, self, reinterpret_cast<long>(&local), 1, reinterpret_cast<long>(&remote),
                         1, 0) == static_cast<long>(bytes);
}

}  // namespace zerotax

namespace zerotax::syscall_filter {
namespace {

long counted_thread = 0;

/// Returns the ID of this thread. The thread pointer is not unique, because another process that shares this memory may
/// have an equal thread pointer.
long this_thread() { return zerotax_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0); }

std::uint32_t low_half(std::uintptr_t address) { return static_cast<std::uint32_t>(address); }
std::uint32_t high_half(std::uintptr_t address) { return static_cast<std::uint32_t>(address >> 32); }

}  // namespace

const char* start(const char* begin, const char* end) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const auto last = reinterpret_cast<std::uintptr_t>(end);
  if (high_half(first) != high_half(last)) return "a seccomp filter cannot recognize our own system calls here";
  constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
  constexpr std::uint32_t kArchitecture = offsetof(seccomp_data, arch);
  constexpr std::uint32_t kAddress = offsetof(seccomp_data, instruction_pointer);
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr std::uint16_t kIfLater = BPF_JMP | BPF_JGE | BPF_K;
  constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
  sock_filter program[] = {
      {kLoad, 0, 0, kAddress + 4},           //
      {kIfEqual, 0, 3, high_half(first)},    //
      {kLoad, 0, 0, kAddress},               //
      {kIfLater, 0, 1, low_half(first)},     //
      {kIfLater, 0, 4, low_half(last)},      // call from the exempt range
      {kLoad, 0, 0, kArchitecture},          //
      {kIfEqual, 0, 3, kAuditArchitecture},  // call numbers are known for this architecture only
      {kLoad, 0, 0, kNumber},                //
      {kIfEqual, 0, 1, SYS_rt_sigreturn},    //
      {kReturn, 0, 0, SECCOMP_RET_ALLOW},    //
      {kReturn, 0, 0, SECCOMP_RET_TRAP},     //
  };
  const sock_fprog filter{sizeof program / sizeof program[0], &program[0]};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0) {
    return is_offered() ? "prctl(PR_SET_SECCOMP) is denied in this process" : "this kernel has no seccomp filters";
  }
  counted_thread = this_thread();
  return nullptr;
}

bool is_offered() { return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

bool is_counted_thread() { return counted_thread == this_thread(); }

}  // namespace zerotax::syscall_filter
