#pragma once

#include "base/json.h"

namespace zerotax {

/// What the metrics were measured on: kernel, CPU, memory, huge pages, swap, cgroup limit, load, C library, interfaces.
/// A field that cannot be read is {"na": reason}. Keys: results/schema/run.schema.json.
Json describe_environment();

}  // namespace zerotax
