#pragma once

#include <cstdint>
#include <vector>

#include "os/perf_buffer.h"
#include "os/processor.h"

namespace zerotax {

/// The registers of user mode and the top of its stack, as a perf sample has them (PERF_SAMPLE_REGS_USER,
/// PERF_SAMPLE_STACK_USER).
struct UserStack {
  Registers registers{};
  std::vector<unsigned char> stack;  ///< from the stack pointer upwards
};

/// What perf_event_attr::sample_regs_user must be.
std::uint64_t user_register_mask();

/// Takes both off a sample. False if it was taken where there is no user mode (a thread of the kernel).
bool take_user_stack(PerfRecordReader& reader, UserStack& to);

}  // namespace zerotax
