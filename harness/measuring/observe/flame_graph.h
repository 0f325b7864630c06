#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace zerotax {

/// Call stacks with their weights; the outermost function is first.
using FoldedStacks = std::map<std::vector<std::string>, std::uint64_t>;

/// Returns the format that flame graph programs read, with one stack per line: "main;f;calloc 4096".
std::string folded_text(const FoldedStacks& stacks);

/// The title and labels of a flame graph.
struct FlameGraphWords {
  std::string title;
  std::string subtitle;
  bool nanoseconds = false;  ///< whether weights are times instead of bytes
};

/// Returns a flame graph as a self-contained SVG file. Each function is a box above its callers, as wide as its share
/// of the total weight. The box's tooltip has the full name and value. Boxes under 0.1 % are omitted. Method: Brendan
/// Gregg, "The Flame Graph", CACM 59(6), 2016.
std::string flame_graph_svg(const FoldedStacks& stacks, const FlameGraphWords& words);

}  // namespace zerotax
