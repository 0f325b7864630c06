#pragma once

#include <cstdint>
#include <vector>

#include "record/kernel_part.h"
#include "record/outside/watch.h"
#include "record/result.h"

namespace zerotax::record {

/// Where memory was populated, then where zeros were stored, then where memory was to be returned; of each, the
/// heaviest first. `store_ns`: the CPU time that was sampled for stores.
std::vector<RecordedSite> outside_sites(const OutsideData& data, const KernelPart& kernel, std::uint64_t store_ns);

}  // namespace zerotax::record
