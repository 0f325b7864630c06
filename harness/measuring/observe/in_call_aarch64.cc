#include <algorithm>

#include "observe/in_call.h"

namespace zerotax {

/// No register tells: the kernel's own functions do (arch/arm64/kernel/entry-common.c), where their names are known.
bool is_in_call(const PerfEvent& sample, const Stack& stack) {
  const auto is_entry = [](const Frame& frame) { return frame.module == "kernel" && frame.function == "el0_svc"; };
  return !sample.kernel.empty() && std::any_of(stack.begin(), stack.end(), is_entry);
}

}  // namespace zerotax
