#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "observe/folded.h"
#include "observe/profile_data.h"
#include "profile/subject.h"

namespace zerotax::profile {

/// The object of "zerotax.profile/1" (results/schema/profile.schema.json).
Json profile_json(const ProfileSubject& subject, const ProfileData& data, const Json& environment);

/// The summary for the terminal, from that object: the categories, the call tree (one for each thread, if there are
/// any), and the functions by top of stack. At most `columns` wide; branches of the tree under `least` (a share, 0 to
/// 1) are left out. Of a profile that is mostly unseen, no more than that.
std::string profile_text(const Json& profile, std::size_t columns = 80, double least = 0.01);

/// The stacks as flame graphs take them, weighted by `weight` for each sample; the kernel's functions end in "_[k]".
FoldedStacks folded_stacks(const ProfileData& data, std::uint64_t weight = 1);

}  // namespace zerotax::profile
