#pragma once

#include <cstddef>
#include <string>

#include "base/json.h"
#include "observe/profile_data.h"

namespace zerotax::profile {

/// The array "tree" of results/schema/profile.schema.json: functions, whatever place in them.
Json tree_json(const ProfileData& data);
/// The array "threads": a tree of each, of places. Those with the most samples first.
Json threads_json(const ProfileData& data);
/// The array "top_of_stack".
Json top_json(const ProfileData& data);

/// They for the terminal, at most `columns` wide; branches under `least` (a share of all samples, 0 to 1) are left out.
std::string tree_lines(const Json& profile, std::size_t columns, double least);
std::string thread_lines(const Json& profile, std::size_t columns, double least);
std::string top_lines(const Json& profile, std::size_t columns);

}  // namespace zerotax::profile
