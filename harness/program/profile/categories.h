#pragma once

#include <string>
#include <vector>

#include "observe/fill.h"
#include "observe/profile_data.h"
#include "profile/result.h"

namespace zerotax::profile {

/// Returns the activity of a sampled stack, which its innermost frames decide: "zeroing", "filling", "memset (value
/// unknown)", "page faults", "mapping calls", "other kernel", "copying", "allocator", "program". A page fault that a
/// memset takes counts as a page fault. `fill` is the value that a memset was writing.
std::string category_of(const Stack& stack, Fill fill = Fill::kUnknown);

/// Returns the categories. The category with the most samples comes first. With `wall`, waiting threads have a
/// category, too.
std::vector<Category> categories_of(const ProfileData& data, bool wall);

/// Formats the categories for the terminal.
std::string category_lines(const Profile& profile);

}  // namespace zerotax::profile
