#pragma once

#include <string>

namespace zerotax {

/// A folder of what can be made again: $XDG_CACHE_HOME/zerotax/NAME, else ~/.cache/zerotax/NAME, made if it is missing.
/// Throws UsageError where there can be none. Source: the XDG Base Directory Specification.
std::string cache_folder(const std::string& name);

}  // namespace zerotax
