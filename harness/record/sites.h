#pragma once

#include <vector>

#include "base/json.h"
#include "record/preload/arena.h"
#include "record/scripts.h"

namespace zerotax::record {

/// The call stacks of all processes, equal ones joined, with names, those with the most bytes first, zeroed
/// there, by the kernel for what was got there, or returned there: the rows `sites` of
/// results/schema/record.schema.json. `scripts` names what lies in no file.
Json record_sites(const std::vector<const record::ProcessSlot*>& processes, RecordedScripts& scripts);

/// Zeroed bytes of a site, large stores and what samples of small ones stand for.
std::uint64_t site_zeroed_bytes(const Json& site);

/// Its place among the others: bytes zeroed at it, by the kernel of blocks got at it, and returned at it.
std::uint64_t site_weight(const Json& site);

}  // namespace zerotax::record
