#include <cstdint>

#include "os/syscall_counter.h"

// Linux has no syscall user dispatch for arm64: it is of the generic entry code (kernel/entry/), which arm64 does not
// use up to Linux 6.18. So nothing is counted, with that reason, and there is no range of code to be passed over.
asm(R"(
  .text
  .globl zerotax_syscall
  .hidden zerotax_syscall
  .type zerotax_syscall, %function
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
)");

namespace zerotax {
namespace {

constexpr const char* kNotOffered = "Linux has no syscall user dispatch on arm64";

}  // namespace

const char* SyscallCounter::install() { return kNotOffered; }
const char* SyscallCounter::begin(Observer* /*observer*/) { return kNotOffered; }
const char* SyscallCounter::end() { return kNotOffered; }
std::uint32_t SyscallCounter::calls(std::size_t /*number*/) { return 0; }
bool SyscallCounter::incomplete() { return false; }
const char* SyscallCounter::why_incomplete() { return kNotOffered; }
SyscallCounter::Pause::Pause() : saved_(0) {}
SyscallCounter::Pause::~Pause() = default;

}  // namespace zerotax
