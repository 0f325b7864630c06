#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "observe/flame_graph.h"
#include "profile/result.h"

namespace zerotax::profile {

/// The summary for the terminal: the categories, the call tree (one for each thread, if there are
/// any), and the functions by top of stack. At most `columns` wide; branches of the tree under `least` (a share, 0 to
/// 1) are left out. A profile that is mostly unseen shows no more than that.
std::string profile_text(const Profile& profile, std::size_t columns = 80, double least = 0.01);

/// The stacks as flame graphs take them, weighted by `weight` for each sample; the kernel's functions end in "_[k]".
FoldedStacks folded_stacks(const ProfileData& data, std::uint64_t weight = 1);

}  // namespace zerotax::profile
