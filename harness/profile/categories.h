#pragma once

#include <string>

#include "base/json.h"
#include "observe/fill.h"
#include "observe/profile_data.h"

namespace zerotax::profile {

/// What a sampled stack was busy with, by its innermost frames: "zeroing", "filling", "memset (value unknown)", "page
/// faults", "mapping calls", "other kernel", "copying", "allocator", "program". A page fault taken by a memset is a
/// page fault. `fill`: what a memset was writing.
std::string category_of(const Stack& stack, Fill fill = Fill::kUnknown);

/// The array "categories" of results/schema/profile.schema.json.
Json categories_json(const ProfileData& data, bool wall);

/// It for the terminal.
std::string category_lines(const Json& profile);

}  // namespace zerotax::profile
