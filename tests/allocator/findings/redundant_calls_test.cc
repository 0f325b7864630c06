#include <gtest/gtest.h>

#include "findings_testing.h"
#include "judge/judgement.h"
#include "point/point_document.h"
#include "summary_testing.h"

namespace zerotax::findings {

namespace {

constexpr std::uint64_t kPages = kMiB / 4096;

Json audited(std::uint64_t ops, std::uint64_t redundant, std::uint64_t populated) {
  return Json{{"ops", ops},
              {"share", 0.5},
              {"zeroed_bytes", redundant},
              {"redundant_zeroed_bytes", redundant},
              {"populated_bytes", populated}};
}

Json timed(std::uint64_t ops, std::uint64_t faults, double ns) {
  return Json{{"ops", ops}, {"share", 0.5}, {"calloc_faults", faults}, {"calloc_ns", ns}};
}

std::optional<std::vector<RedundantCalls>> calls_of(const Json& point) {
  return redundant_calls(point_from_json(point));
}

/// A point that zeroes fresh memory in 2 of 7 calls, and a reused block in the others.
Json alternating() {
  Json point = point_of({.redundant = kMiB, .calloc_faults = 0, .ns = 5000});
  point["modes"] = {{"audit", {audited(5, kMiB, 0), audited(2, kMiB, kMiB)}},
                    {"timing", {timed(11, 0, 5000), timed(4, kPages, 90'000)}}};
  return point;
}

TEST(RedundantCalls, OfAPointWhoseCallsAreAlikeAreEachCall) {
  const auto calls = calls_of(point_of({.redundant = kMiB, .populated = kMiB, .calloc_faults = kPages}));
  ASSERT_TRUE(calls && calls->size() == 1);
  EXPECT_TRUE(calls->front().every());
  EXPECT_EQ(calls->front().kind, RedundantKind::kFresh);
  EXPECT_EQ(calls->front().calloc_faults, kPages);
  EXPECT_EQ(which_calls(calls->front()), "each calloc");
}

TEST(RedundantCalls, KeepTheFiguresOfOneKindTogether) {
  const auto calls = calls_of(alternating());
  ASSERT_TRUE(calls && calls->size() == 2);
  EXPECT_EQ(calls->at(0).kind, RedundantKind::kReuse);
  EXPECT_EQ(calls->at(0).calloc_faults, 0U);
  EXPECT_EQ(calls->at(0).calloc_ns, 5000);
  EXPECT_EQ(calls->at(1).kind, RedundantKind::kFresh);
  EXPECT_EQ(calls->at(1).calloc_faults, kPages);
  EXPECT_EQ(calls->at(1).calloc_ns, 90'000);
  EXPECT_EQ(which_calls(calls->at(1)), "2 of 7 callocs");
}

TEST(RedundantCalls, AreNotTakenForThoseThatOneHugePageWouldExplain) {
  constexpr std::uint64_t kTwo = 2 * kMiB;
  Json point = point_of({.size = kTwo, .calloc_faults = 1, .ns = 5000});
  point["modes"] = {{"audit", {audited(24, 0, 0), audited(4, kTwo, kTwo)}},
                    {"timing", {timed(24, 1, 5000), timed(4, 513, 1e6)}}};
  const auto calls = calls_of(point);
  ASSERT_TRUE(calls && calls->size() == 1);
  EXPECT_EQ(calls->front().calloc_faults, 513U);
  point["modes"] = {{"audit", {audited(14, 0, 0), audited(14, kTwo, kTwo)}},
                    {"timing", {timed(14, 1, 5000), timed(14, 513, 1e6)}}};
  EXPECT_EQ(calls_of(point)->front().calloc_faults, 513U);
}

TEST(RedundantCalls, TakeNoTimeFromCallsThatGotOtherMemory) {
  // The audit pass saw fresh memory in each call, but the timing pass saw no faults.
  const auto calls = calls_of(point_of({.redundant = kMiB, .populated = kMiB, .calloc_faults = 0}));
  ASSERT_TRUE(calls && calls->size() == 1);
  EXPECT_FALSE(calls->front().calloc_faults);
  EXPECT_FALSE(calls->front().calloc_ns);
  const auto reused = calls_of(point_of({.redundant = kMiB, .calloc_faults = kPages}));
  EXPECT_FALSE(reused->front().calloc_ns);
}

TEST(RedundantCalls, OfHugePagesTakeFewFaults) {
  const std::uint64_t size = 100 * kMiB;
  const auto calls = calls_of(point_of({.size = size, .redundant = size, .populated = size, .calloc_faults = 50}));
  EXPECT_EQ(calls->front().calloc_faults, 50U);
}

TEST(RedundantCalls, AreNotKnownWhereTheAuditDoesNotKnow) {
  Json point = point_of({});
  point["redundant_zeroed_bytes"] = not_available("old kernel");
  EXPECT_FALSE(calls_of(point));
}

TEST(Findings, ACallInSevenIsToldAsOneInSeven) {
  const Json found = found_json({alternating()});
  const Json& finding = found.at("findings")[0];
  EXPECT_EQ(finding.at("id"), "a-redundant-fresh-1MiB");
  const std::string title = finding.at("title");
  EXPECT_NE(title.find("2 of 7 calls of calloc(1 MiB) zero memory fresh from the kernel: 256 page faults"),
            std::string::npos)
      << title;
  const std::string sentence = finding.at("sentence");
  EXPECT_NE(sentence.find("2 of 7 callocs get fresh memory"), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find("each calloc"), std::string::npos) << sentence;
}

TEST(Findings, FaultsOfCallsThatGotOtherMemoryAreNotTheirs) {
  const Json found = found_json({point_of({.redundant = kMiB, .populated = kMiB, .calloc_faults = 0})});
  const std::string sentence = found.at("findings")[0].at("sentence");
  EXPECT_EQ(sentence.find("0 page faults"), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find("did not see"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("redundant bytes a call"), std::string::npos) << sentence;
}

TEST(Summary, ShowsBothKindsOfCallsAndTheirShares) {
  Json point = alternating();
  point["size_bytes"] = 100 * kMiB;
  point["modes"] = {{"audit", {audited(6, 0, 0), audited(1, 100 * kMiB, 100 * kMiB)}},
                    {"timing", {timed(13, 0, 310'000), timed(2, 25'600, 39.1e6)}}};
  const std::string summary = one_line_each(summary_text_of({point}));
  EXPECT_NE(summary.find("310 µs / 39.1 ms"), std::string::npos) << summary;
  EXPECT_NE(summary.find(" 1/7 calls |"), std::string::npos) << summary;
  EXPECT_NE(summary.find("1 of 7 callocs writes 104,857,600 redundant"), std::string::npos) << summary;
}

}  // namespace
}  // namespace zerotax::findings
