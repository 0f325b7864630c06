#include "observe/in_call.h"
#include "os/processor.h"

namespace zerotax {

/// The processor's instruction for a system call leaves the address behind it in rcx; an exception or interrupt leaves
/// there what the program had.
bool is_in_call(const PerfEvent& sample, const Stack& /*stack*/) {
  constexpr std::size_t kRcx = 2;
  return !sample.kernel.empty() && sample.has_user && sample.registers[kRcx] == sample.registers[kProgramCounter];
}

}  // namespace zerotax
