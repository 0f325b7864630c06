#pragma once

#include <string>

namespace zerotax {

/// Throws UsageError that says why a file could not be written: `reason` is an errno.
[[noreturn]] void cannot_write(const std::string& path, int reason);

}  // namespace zerotax
