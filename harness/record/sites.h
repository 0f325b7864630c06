#pragma once

#include <vector>

#include "base/json.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// The call stacks of all processes, equal ones joined, with names, most zeroed bytes first: the rows `sites` of
/// results/schema/record.schema.json.
Json record_sites(const std::vector<const record::ProcessSlot*>& processes);

/// Zeroed bytes of a site, large stores and what samples of small ones stand for.
std::uint64_t site_zeroed_bytes(const Json& site);

}  // namespace zerotax::record
