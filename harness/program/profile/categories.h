#pragma once

#include <string>
#include <vector>

#include "observe/fill.h"
#include "observe/profile_data.h"
#include "profile/result.h"

namespace zerotax::profile {

/// What a sampled stack was busy with, by its innermost frames: "zeroing", "filling", "memset (value unknown)", "page
/// faults", "mapping calls", "other kernel", "copying", "allocator", "program". A page fault taken by a memset is a
/// page fault. `fill`: what a memset was writing.
std::string category_of(const Stack& stack, Fill fill = Fill::kUnknown);

/// Those with the most samples first. `wall`: threads that wait have one, too.
std::vector<Category> categories_of(const ProfileData& data, bool wall);

/// They for the terminal.
std::string category_lines(const Profile& profile);

}  // namespace zerotax::profile
