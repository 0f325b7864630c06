#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace zerotax::trace {

/// When the process started (ProcessFacts::start_ticks). Throws UsageError unless it exists and could have a recorder.
std::uint64_t check_controllable(pid_t pid);

/// The path of a process's control file: in `folder`, or if that is empty in the one that ZEROTAX_TRACE_CONTROL names,
/// in the process's environment or in ours. Throws UsageError if none does, MachineError if its environment may not be
/// read.
std::string control_path(pid_t pid, const std::string& folder);

/// Throws what it means that the control file cannot be opened, by errno.
[[noreturn]] void refuse_control_file(pid_t pid, const std::string& path, int failure);

}  // namespace zerotax::trace
