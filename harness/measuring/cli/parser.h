#pragma once

// The only file that includes the argument parser: for the files of cli/ that stand between it and the features.
#include <CLI/CLI.hpp>

namespace zerotax {

/// The group of options that are the same in every command.
inline constexpr const char* kCommonGroup = "Common options";

}  // namespace zerotax
