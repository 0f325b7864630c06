#pragma once

#include <string>
#include <vector>

#include "observe/profile_data.h"
#include "profile/result.h"

namespace zerotax::profile {

/// Returns the part of the accounted CPU time that the samples do not represent, or the reason why that part is
/// unknown.
Measured<Unseen> unseen_of(const ProfileSubject& subject, const ProfileData& data);

/// Returns an upper bound of the share of events that were lost.
double lost_share(const ProfileData& data);

/// Whether nothing could be sampled. If so, all times are from the kernel's accounting.
bool is_denied(const Profile& profile);

/// Whether the samples exceed the kernel's accounting, which lacks processes for which no parent waited.
bool is_account_short(const Profile& profile);

/// Whether so much time is unseen that a call tree would mislead.
bool is_mostly_unseen(const Profile& profile);

/// Returns sentences about lost events and CPU time that was not sampled, with remedies. Returns no sentence if nothing
/// is missing.
std::vector<std::string> unseen_warnings(const Profile& profile);

/// If the kernel could not be sampled, adds samples for that part of `system_s` that the clocks of sampled threads do
/// not cover. This part includes the time of threads that ended before their clocks were read. `hz` converts time to
/// samples.
void account_rest(ProfileData& data, double system_s, unsigned hz);

}  // namespace zerotax::profile
