#pragma once

#include <string>

#include "base/json.h"

namespace zerotax::check {

/// Reads a baseline and holds all of it against its schema, so that who compares with it may take for granted what is
/// there. Throws UsageError for what is no plain file, no JSON, no baseline, or a damaged one.
Json read_baseline(const std::string& path);

}  // namespace zerotax::check
