#pragma once

#include "base/json.h"
#include "observe/profile_data.h"
#include "profile/subject.h"

namespace zerotax::profile {

/// How much of the CPU time that the kernel accounts for the samples stand for: the object "unseen" of
/// results/schema/profile.schema.json, or why that cannot be said.
Json unseen_json(const ProfileSubject& subject, const ProfileData& data);

/// The same of events that were lost: a share of all, at most.
double lost_share(const ProfileData& data);

/// Whether so much went unseen that a call tree would mislead: `profile` is an object of "zerotax.profile/1".
bool is_mostly_unseen(const Json& profile);

/// Lines for the head of the summary: what was lost or not seen, what follows from it, and what to do. Empty if all is
/// well.
std::string unseen_lines(const Json& profile);

}  // namespace zerotax::profile
