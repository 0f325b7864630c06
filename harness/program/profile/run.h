#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "observe/profile_recorder.h"
#include "point/plan.h"
#include "profile/result.h"

namespace zerotax::profile {

/// The result of a profiled run. Times and faults are from the kernel's accounting.
struct ProfiledRun {
  ProfileData data;
  double wall_s = 0;
  double user_s = 0;
  double system_s = 0;
  std::uint64_t faults = 0;  ///< page faults, minor and major
  int exit_status = 0;       ///< exit status as a shell reports it
  std::optional<SampledProcess> process = {};
};

/// Runs a program in the foreground, with `allocator` if one is given (which must have `preload` set). Throws
/// UsageError if the program cannot be started. Throws MachineError if this machine cannot sample the program.
ProfiledRun profile_command(const std::vector<std::string>& words, const std::optional<Allocator>& allocator,
                            const ProfileOptions& options);

/// Repeats the operation of a point for about `seconds`, with no meter. Ignores `point.repeats`. Throws an Error with
/// the status of a finding if the allocator does not finish.
ProfiledRun profile_point(const Allocator& allocator, const PointSpec& point, double seconds,
                          const ProfileOptions& options);

/// Returns the properties of a running process.
SampledProcess describe_process(pid_t pid);
/// Returns the properties of a program that was run.
SampledProcess describe_program(pid_t pid, const std::string& path, const std::string& launched);

/// Samples a running process and its descendants for `seconds`, or until the process ends or a signal interrupts. The
/// process is neither stopped nor traced. Throws the errors of check_process, and MachineError if nothing can be
/// sampled.
ProfiledRun profile_process(pid_t pid, double seconds, ProfileOptions options);

}  // namespace zerotax::profile
