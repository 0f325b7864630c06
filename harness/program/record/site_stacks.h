#pragma once

#include <string>
#include <vector>

#include "observe/flame_graph.h"
#include "record/result.h"

namespace zerotax::record {

/// Weight of a call stack.
enum class StackWeight { kRedundant, kZeroed, kTime, kKernel, kRefilled, kReturned };

/// Returns the names of the weights: redundant, zeroed, kernel, refilled, returned, ns.
const std::vector<std::string>& stack_weight_names();

/// Returns the title of a graph of this weight, such as "Bytes zeroed".
const char* stack_weight_title(StackWeight weight);

/// Returns the weight with this name. Throws UsageError if there is no such weight.
StackWeight parse_stack_weight(const std::string& name);

/// Returns the bytes or nanoseconds of a site. Includes estimates for small stores and for recordings from outside.
std::uint64_t weight_of(const RecordedSite& site, StackWeight weight);

/// Returns the stacks of a recording's sites with their weights; functions have no line numbers. Weights are bytes,
/// with estimates from samples of small stores, or nanoseconds of large stores. Stacks of weight 0 are omitted.
FoldedStacks fold_sites(const std::vector<RecordedSite>& sites, StackWeight weight);

/// Returns the sites of a recording as a gzipped pprof file with all known weights. Viewers show the weight `first` by
/// default. Bytes and nanoseconds are those of fold_sites(). Bytes without a site are a separate sample.
std::string pprof_of(const Record& record, StackWeight first);

}  // namespace zerotax::record
