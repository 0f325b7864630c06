#pragma once

#include <string>
#include <vector>

#include "point/allocator.h"

namespace zerotax::compare {

/// The two allocators of a comparison from the words OLD and NEW (NAME, NAME=PATH, or the path of a library) and the
/// --env words, whose name is an allocator's, or "old" or "new". Both may be the same. Throws UsageError.
std::pair<Allocator, Allocator> resolve_sides(const std::string& before, const std::string& after,
                                              const std::vector<std::string>& env);

}  // namespace zerotax::compare
