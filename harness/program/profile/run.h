#pragma once

#include <optional>
#include <string>
#include <vector>

#include "observe/profile_recorder.h"
#include "point/plan.h"
#include "profile/subject.h"

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

}  // namespace zerotax::profile
