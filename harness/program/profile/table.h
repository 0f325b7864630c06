#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/answer.h"
#include "observe/flame_graph.h"
#include "profile/result.h"

namespace zerotax::profile {

/// Returns the answer, which fits one screen.
Answer profile_answer(const Profile& profile);
/// Returns a sentence about the CPU time and its main activities.
std::string headline(const Profile& profile);
/// Returns sentences about the program's end and about missing times and names. The gravest comes first.
std::vector<std::string> warnings(const Profile& profile);

/// Returns the summary for the terminal: the categories, one call tree or one per thread, and the functions by top of
/// stack. Lines are at most `columns` wide. Branches with a share of samples below `least` (0 to 1) are omitted. If
/// most of the time is unseen, the call tree is omitted.
std::string profile_text(const Profile& profile, std::size_t columns = 80, double least = 0.01);

/// Returns the stacks in the folded format of flame graph tools, each sample multiplied by `weight`. Names of kernel
/// functions end in "_[k]".
FoldedStacks folded_stacks(const ProfileData& data, std::uint64_t weight = 1);

}  // namespace zerotax::profile
