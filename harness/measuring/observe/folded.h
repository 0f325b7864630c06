#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace zerotax {

/// Call stacks with a weight each, outermost function first.
using FoldedStacks = std::map<std::vector<std::string>, std::uint64_t>;

/// The format that flame graph programs read: "main;f;calloc 4096", a stack a line.
std::string folded_text(const FoldedStacks& stacks);

}  // namespace zerotax
