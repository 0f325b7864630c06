#pragma once

#include "profile/result.h"

namespace zerotax::profile {

/// The object of "zerotax.profile/1" (results/schema/profile.schema.json).
Json profile_json(const Profile& profile);
/// Its array "categories".
Json categories_json(const std::vector<Category>& categories);

}  // namespace zerotax::profile
