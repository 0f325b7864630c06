#include "judge/tax.h"

#include <gtest/gtest.h>

#include "base/size.h"
#include "summary_testing.h"

namespace zerotax::findings {

namespace {

Json point(const std::string& allocator, std::uint64_t size, const Json& redundant, std::uint64_t fresh = 0) {
  Json json;
  json["allocator"] = allocator;
  json["version"] = "1.0";
  json["env"] = Json::object();
  json["case"] = "calloc_loop";
  json["size_bytes"] = size;
  json["touch"] = 0.0;
  json["thread"] = "main";
  json["status"] = "ok";
  json["reason"] = nullptr;
  json["calloc_ns"] = {{"median", static_cast<double>(size) / 10}, {"p05", 0}, {"p95", 0}};
  json["redundant_zeroed_bytes"] = redundant;
  json["calloc_faults"] = 7;
  json["first_ops"] = Json::array({{{"redundant_zeroed_bytes", fresh}}});
  return json;
}

std::vector<AllocatorTax> taxes_of(const std::vector<Json>& points) {
  return find_verdicts(typed_points(points)).allocators;
}

std::string text_of(const std::vector<Json>& points) { return one_line_each(summary_text_of(points)); }

TEST(Tax, FindsTheSpansOfSizesThatPayWhateverTheirOrder) {
  std::vector<Json> points;
  for (const std::uint64_t size : {8U, 1U, 4U, 2U, 16U, 32U}) {
    points.push_back(point("a", size * kMiB, size == 2 || size == 4 || size == 32 ? size * kMiB : 0));
  }
  const auto taxes = taxes_of(points);
  ASSERT_EQ(taxes.size(), 1U);
  ASSERT_EQ(taxes[0].redundant.spans.size(), 2U);
  EXPECT_EQ(taxes[0].redundant.spans[0].from, 2 * kMiB);
  EXPECT_EQ(taxes[0].redundant.spans[0].to, 4 * kMiB);
  EXPECT_EQ(taxes[0].redundant.spans[1].from, 32 * kMiB);
  EXPECT_EQ(taxes[0].redundant.spans[1].to, 32 * kMiB);
}

TEST(Tax, HalfABlockPaysAndAPageDoesNot) {
  const auto taxes = taxes_of({point("a", kMiB, kMiB / 2), point("b", kMiB, 4096)});
  EXPECT_EQ(taxes[0].redundant.spans.size(), 1U);
  EXPECT_TRUE(taxes[1].redundant.spans.empty());
}

TEST(Tax, WhatWasNotMeasuredIsNotInnocent) {
  const auto taxes = taxes_of({point("a", kMiB, not_available("old kernel"))});
  EXPECT_EQ(taxes[0].redundant.known.size(), 0U);
  EXPECT_EQ(taxes[0].redundant.unknown.size(), 1U);
  EXPECT_NE(text_of({point("a", kMiB, not_available("old kernel"))}).find("is unknown"), std::string::npos);
}

Json freeing(Json json, double touch, const Json& zeroed, const Json& redundant) {
  json["touch"] = touch;
  json["zeroed_in_free_bytes"] = zeroed;
  json["redundant_zeroed_in_free_bytes"] = redundant;
  return json;
}

TEST(Tax, AnAllocatorThatClearsInFreeIsNotAcquitted) {
  const Json untouched = freeing(point("a", kMiB, 0), 0, kMiB, kMiB);
  const auto taxes = taxes_of({untouched, freeing(point("a", 2 * kMiB, 0), 0, 4096, 4096)});
  ASSERT_EQ(taxes[0].needless_in_free.spans.size(), 1U);
  EXPECT_EQ(taxes[0].needless_in_free.spans[0].to, kMiB);
  const std::string summary = text_of({untouched});
  EXPECT_NE(summary.find("However, its free writes zeros over blocks"), std::string::npos) << summary;
}

TEST(Tax, WhatFreeClearsOfTheProgramsIsSaidWhereNothingElseIsCleared) {
  const auto taxes = taxes_of({freeing(point("a", kMiB, 0), 0, 0, 0), freeing(point("a", kMiB, 0), 1, kMiB, 0)});
  EXPECT_TRUE(taxes[0].needless_in_free.spans.empty());
  EXPECT_EQ(taxes[0].cleared_in_free.spans.size(), 1U);
  EXPECT_EQ(taxes[0].redundant.known.size(), 1U) << "points with touched memory are no sample of calloc";
}

TEST(Tax, WhatFreeDoesUnseenIsNotClaimedToBeNothing) {
  const Json unknown = not_available("unseen");
  const auto taxes = taxes_of({freeing(point("a", kMiB, 0), 0, unknown, unknown), point("b", kMiB, 0)});
  EXPECT_EQ(taxes[0].cleared_in_free.unknown.size(), 1U);
  EXPECT_EQ(taxes[1].cleared_in_free.unknown.size(), 0U)
      << "an older run has no such metric, and says nothing about it";
}

TEST(Tax, PointsThatFailedAreListedWithTheirReason) {
  Json crashed = point("a", kMiB, 0);
  crashed["status"] = "crashed";
  crashed["reason"] = "killed by SIGSEGV";
  const std::string summary = text_of({point("a", 2 * kMiB, 0), crashed});
  EXPECT_NE(summary.find("1 MiB touch 0: crashed: killed by SIGSEGV"), std::string::npos) << summary;
}

TEST(Tax, IsOfUntouchedBlocksInTheMainThread) {
  Json touched = point("a", kMiB, kMiB);
  touched["touch"] = 1.0;
  Json in_worker = point("a", kMiB, kMiB);
  in_worker["thread"] = "worker";
  Json other_case = point("a", kMiB, kMiB);
  other_case["case"] = "other";
  const auto taxes = taxes_of({touched, in_worker, other_case, point("a", kMiB, 0)});
  ASSERT_EQ(taxes.size(), 1U);
  EXPECT_EQ(taxes[0].redundant.known.size(), 1U);
  EXPECT_TRUE(taxes[0].redundant.spans.empty());
}

TEST(Tax, IsToldByConfiguration) {
  Json configured = point("a", kMiB, kMiB);
  configured["env"]["KEY"] = "value";
  const auto taxes = taxes_of({point("a", kMiB, 0), configured});
  ASSERT_EQ(taxes.size(), 2U);
  EXPECT_EQ(taxes[0].label, "a 1.0");
  EXPECT_EQ(taxes[1].label, "a 1.0 [KEY=value]");
}

TEST(Summary, TellsAFirstCallThatDiffersFromTheLaterOnes) {
  const std::string only_first = text_of({point("a", kMiB, 0, kMiB)});
  EXPECT_NE(only_first.find("The first calloc of a process writes needless zeros, at 1 MiB."), std::string::npos)
      << only_first;
  const std::string only_later = text_of({point("a", kMiB, kMiB, 0)});
  EXPECT_NE(only_later.find("The first calloc of a process writes no needless zeros."), std::string::npos)
      << only_later;
}

TEST(Summary, HasTheRedundantShareOf100MiB) {
  const std::string summary = text_of({point("a", 100 * kMiB, 75 * kMiB), point("b", kMiB, kMiB)});
  EXPECT_NE(summary.find(" 75 % |"), std::string::npos) << summary;
  EXPECT_NE(summary.find("n/a |\n"), std::string::npos) << summary;
}

TEST(Summary, SaysWhoPaysFromWhereToWhereAndHowMuch) {
  std::vector<Json> points;
  for (const std::uint64_t size : {1U, 100U, 1000U}) {
    points.push_back(point("always", size * kMiB, size * kMiB, size * kMiB));
    points.push_back(point("cache", size * kMiB, size == 100 ? size * kMiB : 0));
    points.push_back(point("never", size * kMiB, 0));
    points.back()["calloc_ns"]["median"] = 100;
  }
  const std::string wrapped = summary_text_of(points);
  const std::string summary = one_line_each(wrapped);
  EXPECT_NE(summary.find("**always 1.0**: Writes zeros over memory that is zero already, at every"), std::string::npos)
      << summary;
  EXPECT_NE(summary.find("1,048,576,000"), std::string::npos);
  EXPECT_NE(summary.find("**cache 1.0**: Writes zeros over memory that is zero already, at 100 MiB."),
            std::string::npos)
      << summary;
  EXPECT_NE(summary.find("**never 1.0**: Never writes zeros"), std::string::npos);
  EXPECT_NE(summary.find("10.5 ms"), std::string::npos);
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < wrapped.size();) {
    const std::size_t end = wrapped.find('\n', begin);
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  EXPECT_LE(longest, 80U) << "the line must fit a terminal of 80 columns";
}

}  // namespace
}  // namespace zerotax::findings
