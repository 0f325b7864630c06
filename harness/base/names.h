#pragma once

#include <string>

namespace zerotax {

/// A C++ symbol as it was written in the source; any other name unchanged.
std::string demangled(const char* symbol);

/// The last part of a path.
std::string file_name(const std::string& path);

}  // namespace zerotax
