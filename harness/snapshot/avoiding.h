#pragma once

#include <string>

#include "base/json.h"

namespace zerotax::snapshot {

/// What the document's `advice` recommends under an allocator, in sentences for the terminal; empty if it has none.
std::string how_to_avoid(const Json& snapshot, const std::string& allocator);

}  // namespace zerotax::snapshot
