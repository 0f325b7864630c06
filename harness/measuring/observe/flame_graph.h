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

/// The title and labels of a flame graph.
struct FlameGraphWords {
  std::string title;
  std::string subtitle;
  bool nanoseconds = false;  ///< weights are times, not bytes
};

/// A flame graph as an SVG file that needs nothing else: a box for each function, as wide as its share, its callers
/// below, the full name and value as a tooltip. Boxes under 0.1 % are left out. Method: Brendan Gregg, "The Flame
/// Graph", CACM 59(6), 2016.
std::string flame_graph_svg(const FoldedStacks& stacks, const FlameGraphWords& words);

}  // namespace zerotax
