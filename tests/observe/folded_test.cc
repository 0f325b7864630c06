#include "observe/folded.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "observe/flame_graph.h"

namespace zerotax {
namespace {

Json frame(const std::string& function) {
  return {{"module", "/bin/x"}, {"address", 16}, {"function", function}, {"file", "/src/x.cc"}, {"line", 3}};
}

Json site(const std::string& kind, const std::vector<std::string>& innermost_first, int zeroed, int redundant,
          int sampled) {
  Json json{{"kind", kind},
            {"zeroed_bytes", zeroed},
            {"redundant_zeroed_bytes", redundant},
            {"zero_ns", 10 * zeroed},
            {"sampled", {{"zeroed_bytes", sampled}, {"redundant_zeroed_bytes", 0}}},
            {"frames", Json::array()}};
  for (const std::string& name : innermost_first) json["frames"].push_back(frame(name));
  return json;
}

const Json kSites = {site("calloc", {"f", "main"}, 100, 40, 7), site("by_hand", {"g", "f", "main"}, 30, 30, 0),
                     site("calloc", {"f", "main"}, 1, 1, 0), site("calloc", {"h", "main"}, 50, 0, 0)};

TEST(Folded, StacksAreOutermostFirstAndJoined) {
  EXPECT_EQ(folded_text(fold_sites(kSites, StackWeight::kRedundant)), "main;f;calloc 41\nmain;f;g;memset 30\n");
  EXPECT_EQ(folded_text(fold_sites(kSites, StackWeight::kZeroed)),
            "main;f;calloc 108\nmain;f;g;memset 30\nmain;h;calloc 50\n");
  EXPECT_EQ(folded_text(fold_sites(kSites, StackWeight::kTime)),
            "main;f;calloc 1010\nmain;f;g;memset 300\nmain;h;calloc 500\n");
}

TEST(Folded, WhatWouldBreakALineIsReplaced) {
  const Json sites = {site("calloc", {"a;b\nc"}, 5, 5, 0)};
  EXPECT_EQ(folded_text(fold_sites(sites, StackWeight::kZeroed)), "a:b c;calloc 5\n");
}

TEST(Folded, AFrameWithoutANameIsItsFileAndPlace) {
  Json sites = {site("calloc", {"f"}, 5, 5, 0)};
  sites[0]["frames"][0]["function"] = not_available("no symbol there");
  EXPECT_EQ(folded_text(fold_sites(sites, StackWeight::kZeroed)), "x+0x10;calloc 5\n");
}

TEST(Folded, WeightsHaveNames) {
  EXPECT_EQ(parse_stack_weight("ns"), StackWeight::kTime);
  EXPECT_THROW(parse_stack_weight("calls"), UsageError);
  EXPECT_THROW(parse_stack_weight(""), UsageError);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(FlameGraph, HasABoxForEachFunctionUnderItsCaller) {
  const std::string svg = flame_graph_svg(fold_sites(kSites, StackWeight::kZeroed), {"title", "subtitle", false});
  // all, main, f, calloc, g, memset, h, calloc
  EXPECT_EQ(count(svg, "<g><title>"), 8U);
  EXPECT_NE(svg.find("<title>all: 188 B, 100.0 %</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>f: 138 B, 73.4 %</title>"), std::string::npos);
}

TEST(FlameGraph, NamesCannotBreakOutOfTheFile) {
  const Json sites = {site("calloc", {"std::map<int, \"&\x01\">", "</svg>"}, 5, 5, 0)};
  const std::string svg = flame_graph_svg(fold_sites(sites, StackWeight::kZeroed), {"<t>", "a & b", false});
  EXPECT_EQ(count(svg, "</svg>"), 1U);
  EXPECT_NE(svg.find("std::map&lt;int, &quot;&amp;?&quot;&gt;"), std::string::npos);
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
