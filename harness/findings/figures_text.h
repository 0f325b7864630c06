#pragma once

#include <string>

#include "base/json.h"

namespace zerotax::findings {

/// Metrics by name, as evidence and knobs have them, in words: "calloc_ns 40.0 ms; zeroed_bytes 4,096 bytes; avoids
/// yes". The unit of each is the end of its name. A metric that is n/a has its reason.
std::string figures_text(const Json& figures);

}  // namespace zerotax::findings
