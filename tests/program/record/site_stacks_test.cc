#include "record/site_stacks.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace zerotax::record {
namespace {

NamedFrame frame(const std::string& function) {
  return {std::string("/bin/x"), 16, function, {}, std::string("/src/x.cc"), 3};
}

RecordedSite site(SiteKind kind, const std::vector<std::string>& innermost_first, std::uint64_t zeroed,
                  std::uint64_t redundant, std::uint64_t sampled) {
  RecordedSite made;
  made.kind = kind;
  made.zeroed_bytes = zeroed;
  made.redundant_zeroed_bytes = redundant;
  made.zero_ns = 10 * zeroed;
  made.sampled.zeroed_bytes = sampled;
  for (const std::string& name : innermost_first) made.frames.push_back(frame(name));
  return made;
}

const std::vector<RecordedSite> kSites = {
    site(SiteKind::kCalloc, {"f", "main"}, 100, 40, 7), site(SiteKind::kByHand, {"g", "f", "main"}, 30, 30, 0),
    site(SiteKind::kCalloc, {"f", "main"}, 1, 1, 0), site(SiteKind::kCalloc, {"h", "main"}, 50, 0, 0)};

TEST(SiteStacks, StacksAreOutermostFirstAndJoined) {
  EXPECT_EQ(folded_text(fold_sites(kSites, StackWeight::kRedundant)), "main;f;calloc 41\nmain;f;g;memset 30\n");
  EXPECT_EQ(folded_text(fold_sites(kSites, StackWeight::kZeroed)),
            "main;f;calloc 108\nmain;f;g;memset 30\nmain;h;calloc 50\n");
  EXPECT_EQ(folded_text(fold_sites(kSites, StackWeight::kTime)),
            "main;f;calloc 1010\nmain;f;g;memset 300\nmain;h;calloc 500\n");
}

TEST(SiteStacks, WhatWouldBreakALineIsEscaped) {
  const std::vector<RecordedSite> sites = {site(SiteKind::kCalloc, {"a;b\nc"}, 5, 5, 0)};
  EXPECT_EQ(folded_text(fold_sites(sites, StackWeight::kZeroed)), "a\\x3bb\\nc;calloc 5\n");
}

TEST(SiteStacks, AFrameWithoutANameIsItsFileAndPlace) {
  std::vector<RecordedSite> sites = {site(SiteKind::kCalloc, {"f"}, 5, 5, 0)};
  sites[0].frames[0].function = NotAvailable{"no symbol there"};
  EXPECT_EQ(folded_text(fold_sites(sites, StackWeight::kZeroed)), "x+0x10;calloc 5\n");
}

TEST(SiteStacks, WeightsHaveNames) {
  EXPECT_EQ(parse_stack_weight("ns"), StackWeight::kTime);
  EXPECT_THROW(parse_stack_weight("calls"), UsageError);
  EXPECT_THROW(parse_stack_weight(""), UsageError);
}

}  // namespace
}  // namespace zerotax::record
