#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "observe/profile_data.h"
#include "profile/result.h"

namespace zerotax::profile {

/// Functions, whatever place in them.
std::vector<Call> call_tree(const std::map<Stack, std::uint64_t>& stacks);
/// A tree of each thread, of places. Those with the most samples first.
std::vector<Thread> thread_trees(const ProfileData& data);
/// By the innermost function, those with the most samples first.
std::vector<Function> top_of_stack(const ProfileData& data);

/// They for the terminal, at most `columns` wide; branches under `least` (a share of all samples, 0 to 1) are left out.
std::string tree_lines(const std::vector<Call>& tree, std::uint64_t samples, std::size_t columns, double least);
std::string thread_lines(const Profile& profile, std::size_t columns, double least);
std::string top_lines(const Profile& profile, std::size_t columns);

}  // namespace zerotax::profile
