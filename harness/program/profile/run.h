#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "observe/profile_recorder.h"
#include "point/plan.h"
#include "profile/result.h"

namespace zerotax::profile {

/// What was run under the profiler, by the kernel's own account.
struct ProfiledRun {
  ProfileData data;
  double wall_s = 0;
  double user_s = 0;
  double system_s = 0;
  std::uint64_t faults = 0;  ///< page faults, minor and major
  int exit_status = 0;       ///< as a shell reports it
  std::optional<SampledProcess> process = {};
};

/// Runs a program in the foreground, with `allocator` (its `preload` set) if one is given. Throws UsageError if it
/// cannot be started, MachineError if nothing can be sampled, or not this program.
ProfiledRun profile_command(const std::vector<std::string>& words, const std::optional<Allocator>& allocator,
                            const ProfileOptions& options);

/// Repeats the operation of a point, without any meter, for about `seconds`. `point.repeats` is not looked at. Throws
/// UsageError, which says where it ended, if the allocator does not finish.
ProfiledRun profile_point(const Allocator& allocator, const PointSpec& point, double seconds,
                          const ProfileOptions& options);

/// What is known of a running process.
SampledProcess describe_process(pid_t pid);
/// The same of a program that was started.
SampledProcess describe_program(pid_t pid, const std::string& path, const std::string& launched);

/// Samples a process that runs, with its descendants, for so many seconds, until it ends or we are interrupted. It is
/// neither stopped nor traced. Throws as check_process; MachineError if nothing can be sampled.
ProfiledRun profile_process(pid_t pid, double seconds, ProfileOptions options);

}  // namespace zerotax::profile
