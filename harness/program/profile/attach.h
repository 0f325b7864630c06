#pragma once

#include <sys/types.h>

#include "profile/run.h"

namespace zerotax::profile {

/// What is known of a running process.
SampledProcess describe_process(pid_t pid);
/// The same of a program that was started.
SampledProcess describe_program(pid_t pid, const std::string& path, const std::string& launched);

/// Samples a process that runs, with its descendants, for so many seconds, until it ends or we are interrupted. It is
/// neither stopped nor traced. Throws as check_process; MachineError if nothing can be sampled.
ProfiledRun profile_process(pid_t pid, double seconds, ProfileOptions options);

}  // namespace zerotax::profile
