#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace zerotax {

/// The weight of a call stack.
enum class StackWeight { kRedundant, kZeroed, kTime, kKernel, kRefilled, kReturned };

/// The names of the weights: redundant, zeroed, kernel, refilled, returned, ns.
const std::vector<std::string>& stack_weight_names();

/// What a graph of this weight shows, such as "Bytes zeroed".
const char* stack_weight_title(StackWeight weight);

/// The weight of one of these names. Throws UsageError for another.
StackWeight parse_stack_weight(const std::string& name);

/// Call stacks with a weight each, outermost function first.
using FoldedStacks = std::map<std::vector<std::string>, std::uint64_t>;

/// The stacks of a recording's `sites`, functions without their lines; bytes (small stores as sampled) or nanoseconds
/// (large stores only). Stacks of weight 0 are left out.
FoldedStacks fold_sites(const Json& sites, StackWeight weight);

/// The format that flame graph programs read: "main;f;calloc 4096", a stack a line.
std::string folded_text(const FoldedStacks& stacks);

}  // namespace zerotax
