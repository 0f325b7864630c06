#pragma once

#include "fork/result.h"

namespace zerotax::fork {

/// The document "zerotax.fork/1" (results/schema/fork.schema.json).
Json fork_json(const Fork& fork);

/// From such a document, which keeps to its schema, of this version or an earlier one.
Fork read_fork(const Json& json);

}  // namespace zerotax::fork
