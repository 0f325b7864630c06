#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "observe/profile_data.h"
#include "profile/result.h"

namespace zerotax::profile {

/// Returns the call tree of functions. Calls in this tree have no `offset`, `address` or `places`.
std::vector<Call> call_tree(const std::map<Stack, std::uint64_t>& stacks);
/// Returns for each thread the call tree of places. The thread with the most samples comes first.
std::vector<Thread> thread_trees(const ProfileData& data);
/// Returns the innermost functions. The function with the most samples comes first.
std::vector<Function> top_of_stack(const ProfileData& data);

/// Formats the tree for the terminal, at most `columns` wide. Omits branches whose share of all samples is below
/// `least` (0 to 1).
std::string tree_lines(const std::vector<Call>& tree, std::uint64_t samples, std::size_t columns, double least);
std::string thread_lines(const Profile& profile, std::size_t columns, double least);
std::string top_lines(const Profile& profile, std::size_t columns);

}  // namespace zerotax::profile
