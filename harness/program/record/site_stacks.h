#pragma once

#include <string>
#include <vector>

#include "observe/flame_graph.h"
#include "record/result.h"

namespace zerotax::record {

/// The weight of a call stack.
enum class StackWeight { kRedundant, kZeroed, kTime, kKernel, kRefilled, kReturned };

/// The names of the weights: redundant, zeroed, kernel, refilled, returned, ns.
const std::vector<std::string>& stack_weight_names();

/// What a graph of this weight shows, such as "Bytes zeroed".
const char* stack_weight_title(StackWeight weight);

/// The weight of one of these names. Throws UsageError for another.
StackWeight parse_stack_weight(const std::string& name);

/// Bytes or nanoseconds of a site: of small stores, and from outside, as sampled.
std::uint64_t weight_of(const RecordedSite& site, StackWeight weight);

/// The stacks of a recording's sites, functions without their lines; bytes (small stores as sampled) or nanoseconds
/// (large stores only). Stacks of weight 0 are left out.
FoldedStacks fold_sites(const std::vector<RecordedSite>& sites, StackWeight weight);

/// The sites of a recording as a gzipped file for pprof: the weights that are known, of each site; `first` is shown
/// first. Bytes and nanoseconds are those of fold_sites(), and what belongs to no site is a sample of its own.
std::string pprof_of(const Record& record, StackWeight first);

}  // namespace zerotax::record
