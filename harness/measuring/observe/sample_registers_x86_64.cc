#include <cstring>

#include "observe/sample_registers.h"
#include "os/processor.h"

namespace zerotax {

/// The instruction for system calls stores its return address in rcx. Exceptions and interrupts leave the program's
/// value in rcx.
bool is_in_call(const PerfEvent& sample, const Stack& /*stack*/) {
  constexpr std::size_t kRcx = 2;
  return !sample.kernel.empty() && sample.has_user && sample.registers[kRcx] == sample.registers[kProgramCounter];
}

std::uint64_t left_by_memset(void* block, std::uint64_t value, std::size_t bytes) {
  void* (*volatile function)(void*, int, std::size_t) = std::memset;
  void* (*target)(void*, int, std::size_t) = function;
  // Moves the stack pointer below the red zone, and aligns it as for any call.
  asm volatile(
      "mov %%rsp, %%rbx\n"
      "sub $256, %%rsp\n"
      "and $-64, %%rsp\n"
      "call *%[target]\n"
      "mov %%rbx, %%rsp\n"
      : "+D"(block), "+S"(value), "+d"(bytes), [target] "+r"(target)
      :
      : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
        "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
  return value;
}

}  // namespace zerotax
