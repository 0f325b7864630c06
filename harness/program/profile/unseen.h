#pragma once

#include "observe/profile_data.h"
#include "profile/result.h"

namespace zerotax::profile {

/// How much of the CPU time that the kernel accounts for the samples stand for, or why that cannot be said.
Measured<Unseen> unseen_of(const ProfileSubject& subject, const ProfileData& data);

/// The same of events that were lost: a share of all, at most.
double lost_share(const ProfileData& data);

/// Whether nothing could be sampled: what is known is by the kernel's account.
bool is_denied(const Profile& profile);

/// Whether more was sampled than the kernel's account has: processes that nobody waited for are missing in it.
bool is_account_short(const Profile& profile);

/// Whether so much went unseen that a call tree would mislead.
bool is_mostly_unseen(const Profile& profile);

/// Lines for the head of the summary: what was lost or not seen, what follows from it, and what to do. Empty if all is
/// well.
std::string unseen_lines(const Profile& profile);

/// Where the kernel's time could not be sampled: adds what `system_s` has beyond the threads whose clocks were read,
/// such as those that lived for less than a reading. `hz`: of the samples that it stands for.
void account_rest(ProfileData& data, double system_s, unsigned hz);

}  // namespace zerotax::profile
