#pragma once

// The only file that includes the argument parser. Only files of cli/ include this file; all other files use
// cli/arguments.h.
#include <CLI/CLI.hpp>

namespace zerotax {

/// The heading of the options that are the same in every command.
inline constexpr const char* kCommonGroup = "Common options";

}  // namespace zerotax
