#pragma once

#include <string>
#include <vector>

#include "bisect/recipe.h"
#include "bisect/repository.h"

namespace zerotax::bisect {

/// The allocators whose packages in Debian are known: `debian` of their upstream.json.
std::vector<std::string> names_in_debian();

/// The packages of such an allocator, or a package by its own name.
Recipe recipe_of_debian(const std::string& name);

/// The versions that the releases of Debian have, oldest release first, fetched unless they are in the cache. A release
/// without a package is left out. Throws UsageError if none has one, and MachineError as find_debian_package does.
std::vector<Commit> debian_versions(const Recipe& recipe);

}  // namespace zerotax::bisect
