#include "observe/flame_graph.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(FlameGraph, HasABoxForEachFunctionUnderItsCaller) {
  const std::string svg = flame_graph_svg(
      {{{"main", "f", "calloc"}, 108}, {{"main", "f", "g", "memset"}, 30}, {{"main", "h", "calloc"}, 50}},
      {"title", "subtitle", false});
  // The boxes of all, main, f, calloc, g, memset, h and calloc.
  EXPECT_EQ(count(svg, "<g><title>"), 8U);
  EXPECT_NE(svg.find("<title>all: 188 B, 100.0 %</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>f: 138 B, 73.4 %</title>"), std::string::npos);
}

TEST(FlameGraph, NamesCannotBreakOutOfTheFile) {
  const std::string svg =
      flame_graph_svg({{{"</svg>", "std::map<int, \"&\x01\">", "calloc"}, 5}}, {"<t>", "a & b", false});
  EXPECT_EQ(count(svg, "</svg>"), 1U);
  EXPECT_NE(svg.find("std::map&lt;int, &quot;&amp;\\x01&quot;&gt;"), std::string::npos);
  EXPECT_NE(svg.find("&lt;t&gt;"), std::string::npos);
}

TEST(FlameGraph, OfNothingIsOneBox) {
  const std::string svg = flame_graph_svg({}, {"title", "", true});
  EXPECT_EQ(count(svg, "<g><title>"), 1U);
  EXPECT_TRUE(svg.ends_with("</svg>\n<!-- zerotax -->\n"));
}

TEST(FlameGraph, LeavesOutWhatIsTooThinToSee) {
  FoldedStacks stacks{{{"main", "big"}, 1'000'000}, {{"main", "small"}, 10}};
  const std::string svg = flame_graph_svg(stacks, {"title", "", false});
  EXPECT_EQ(svg.find("small"), std::string::npos);
  EXPECT_NE(svg.find("big"), std::string::npos);
}

}  // namespace
}  // namespace zerotax
