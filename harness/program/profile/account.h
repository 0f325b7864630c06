#pragma once

#include "observe/profile_data.h"

namespace zerotax::profile {

/// Where the kernel's time could not be sampled: adds what `system_s` has beyond the threads whose clocks were read,
/// such as those that lived for less than a reading. `hz`: of the samples that it stands for.
void account_rest(ProfileData& data, double system_s, unsigned hz);

}  // namespace zerotax::profile
