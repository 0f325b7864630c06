#include <algorithm>
#include <cstring>

#include "observe/sample_registers.h"

namespace zerotax {

/// On arm64, registers do not show whether a sample was taken in a system call, but a known kernel function on the
/// stack does (arch/arm64/kernel/entry-common.c).
bool is_in_call(const PerfEvent& sample, const Stack& stack) {
  const auto is_entry = [](const Frame& frame) { return frame.module == "kernel" && frame.function == "el0_svc"; };
  return !sample.kernel.empty() && std::any_of(stack.begin(), stack.end(), is_entry);
}

std::uint64_t left_by_memset(void* block, std::uint64_t value, std::size_t bytes) {
  void* (*volatile function)(void*, int, std::size_t) = std::memset;
  register void* first asm("x0") = block;
  register std::uint64_t second asm("x1") = value;
  register std::size_t third asm("x2") = bytes;
  register void* (*target)(void*, int, std::size_t) asm("x9") = function;
  asm volatile("blr x9"
               : "+r"(first), "+r"(second), "+r"(third), "+r"(target)
               :
               : "x3", "x4", "x5", "x6", "x7", "x8", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18",
                 "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
                 "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
  return second;
}

}  // namespace zerotax
