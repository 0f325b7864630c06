#pragma once

#include <set>
#include <string>
#include <vector>

#include "observe/symbols.h"

namespace zerotax {

/// Returns the Debian packages that contain debug files for these installed files. Debug packages are named after the
/// packages that own the files. `lists` is the folder in which dpkg lists the files of each package.
std::set<std::string> debug_packages(const std::set<std::string>& files,
                                     const std::string& lists = "/var/lib/dpkg/info");

/// Returns a line that suggests the debug packages for functions without names in the first stacks. The line is empty
/// if all functions have a name, or no package owns the files. `frames` is the number of frames shown of each stack.
std::string debug_packages_line(const std::vector<const std::vector<NamedFrame>*>& stacks, std::size_t frames);

}  // namespace zerotax
