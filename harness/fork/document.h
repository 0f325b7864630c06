#pragma once

#include <string>

#include "base/json.h"
#include "fork/study.h"

namespace zerotax::fork {

/// The document "zerotax.fork/1" (results/schema/fork.schema.json).
Json fork_json(const ForkData& data, const Json& environment, const std::string& started);

/// Adds to that document, or replaces, what is said of it: `sentence`, `notes` on what the figure lacks, of each
/// place of the sweep `plain`, and of the model its `lines`. Needs nothing but what every version has written.
void add_verdict(Json& fork);

/// The summary for the terminal, from that document: Table I of this machine beside the paper's, the model, the ways,
/// what sharing page tables would save. At most 80 columns.
std::string fork_text(const Json& fork);

}  // namespace zerotax::fork
