
#include <gtest/gtest.h>

#include "base/size.h"
#include "findings_testing.h"
#include "summary_testing.h"

namespace zerotax::findings {

namespace {

/// A point whose block is zeroed completely and needlessly, or not at all.
Json zeroed(std::uint64_t size, bool needlessly, const std::string& allocator = "a", double ns = 1000) {
  const std::uint64_t bytes = needlessly ? size : 0;
  return point_of(Made{.allocator = allocator, .size = size, .zeroed = bytes, .redundant = bytes, .ns = ns});
}

Json unaudited(std::uint64_t size) {
  Json point = zeroed(size, false);
  point["redundant_zeroed_bytes"] = not_available("no PAGEMAP_SCAN");
  return point;
}

Json crashed(std::uint64_t size) {
  Json point = zeroed(size, false);
  point["status"] = "crashed";
  point["reason"] = "signal 6";
  point["first_ops"] = Json::array();
  return point;
}

std::string sentence_of(const Json& summary, const std::string& part, const std::string& subject) {
  for (const Json& sentence : summary.at("sentences")) {
    if (sentence.at("part") == part && sentence.at("subject") == subject) return sentence.at("text");
  }
  return "";
}

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(SummaryRanges, ASizeWithoutAnAnswerEndsARangeWhateverTheReason) {
  for (const Json& between : {unaudited(2 * kMiB), crashed(2 * kMiB)}) {
    const std::vector<Json> points{zeroed(kMiB, true), between, zeroed(4 * kMiB, true)};
    const Json summary = judged(points);
    const Json& redundant = summary.at("allocators")[0].at("redundant");
    EXPECT_EQ(redundant.at("word"), "some");
    EXPECT_EQ(redundant.at("complete"), false);
    EXPECT_EQ(redundant.at("text"), "1 MiB and 4 MiB");
    EXPECT_EQ(redundant.at("ranges").size(), 2U);
    EXPECT_TRUE(has(sentence_of(summary, "each", "a 1.0"), "at 1 MiB and 4 MiB."));
    EXPECT_TRUE(has(one_line_each(summary_text_of(points)), "at 1 MiB and 4 MiB.")) << summary_text_of(points);
    EXPECT_TRUE(has(sentence_of(summary, "lead", "Redundant zeroing"), "a 1.0 at some sizes"));
  }
}

TEST(SummaryRanges, EverySizeIsSaidOfSeveralSizesThatAllHaveAnAnswer) {
  const auto text = [](const std::vector<Json>& points) {
    return judged(points).at("allocators")[0].at("redundant").at("text").get<std::string>();
  };
  EXPECT_EQ(text({zeroed(kMiB, true), zeroed(2 * kMiB, true)}), "every size, 1 MiB to 2 MiB");
  EXPECT_EQ(text({zeroed(kMiB, true)}), "1 MiB");
  EXPECT_EQ(text({zeroed(kMiB, true), unaudited(2 * kMiB)}), "1 MiB");
  EXPECT_EQ(text({zeroed(kMiB, false), unaudited(2 * kMiB)}), "never");
  EXPECT_EQ(text({unaudited(kMiB)}), "not known");
}

TEST(SummaryRanges, OfManyTheFirstFewAreTold) {
  std::vector<Json> points;
  for (std::uint64_t n = 0; n < 12; ++n) points.push_back(zeroed(kMiB << n, n % 2 == 0));
  EXPECT_EQ(judged(points).at("allocators")[0].at("redundant").at("text"),
            "1 MiB, 4 MiB, 16 MiB, 64 MiB and 2 more ranges");
}

TEST(SummaryFirstCall, IsNotSaidToBeCleanWhereItIsNotKnown) {
  Json known = zeroed(kMiB, true);
  EXPECT_TRUE(
      has(sentence_of(judged({known}), "each", "a 1.0"), "The first calloc of a process writes no needless zeros."));
  Json unknown = known;
  unknown["first_ops"][0]["redundant_zeroed_bytes"] = not_available("no PAGEMAP_SCAN");
  const Json summary = judged({unknown});
  EXPECT_EQ(summary.at("allocators")[0].at("redundant_first").at("word"), "unknown");
  EXPECT_TRUE(has(sentence_of(summary, "each", "a 1.0"), "The behavior of the first calloc of a process is unknown."));
  EXPECT_FALSE(has(sentence_of(summary, "each", "a 1.0"), "writes no needless zeros"));
}

TEST(SummarySlow, IsTenTimesTheFastestAndWhatCanBeNoticed) {
  const auto word = [](double ns) {
    return judged({zeroed(kMiB, false, "fast", 10), zeroed(kMiB, false, "other", ns)})
        .at("allocators")[1]
        .at("slow")
        .at("word")
        .get<std::string>();
  };
  EXPECT_EQ(word(99'999), "never");
  EXPECT_EQ(word(100'000), "always");
  EXPECT_EQ(judged({zeroed(kMiB, false)}).at("allocators")[0].at("slow").at("word"), "unknown")
      << "nothing was measured for comparison";
}

TEST(SummaryWorst, IsTheLargestRatioWithItsTime) {
  const Json summary = judged({zeroed(kMiB, true, "slow", 10'000), zeroed(kMiB, false, "fast", 100),
                               zeroed(4 * kMiB, true, "slow", 20'000), zeroed(4 * kMiB, false, "fast", 10'000)});
  const Json& worst = summary.at("allocators")[0].at("worst");
  EXPECT_EQ(worst.at("size_bytes"), kMiB);
  EXPECT_EQ(worst.at("ratio"), 100.0);
  EXPECT_EQ(worst.at("text"), "10.0 µs a call, 100 times that of fast 1.0 (100 ns)");
  EXPECT_TRUE(has(sentence_of(summary, "each", "slow 1.0"), "Worst case: 1 MiB, 10.0 µs a call"));
  EXPECT_TRUE(has(sentence_of(summary, "each", "fast 1.0"), "It is the fastest, or level with it"));
}

TEST(SummaryHeadline, NamesTheWorstCaseAndWhyItTakesSoLong) {
  const std::vector<Json> points{zeroed(kMiB, true, "slow", 10'000), zeroed(kMiB, false, "fast", 100)};
  const Json summary = judged(points);
  EXPECT_EQ(
      sentence_of(summary, "headline", "Worst case"),
      "slow 1.0 takes 10.0 µs for a calloc of 1 MiB that nobody writes to, 100 times as long as fast 1.0 (100 ns): "
      "it writes zeros over 1,048,576 bytes that are zero already.");
  EXPECT_TRUE(has(one_line_each(summary_text_of(points)), "**slow 1.0 takes 10.0 µs"));
}

TEST(SummaryHeadline, IsTheDistanceOrWhoZeroesWhereNobodyZeroesNeedlessly) {
  const Json apart = judged({zeroed(kMiB, false, "slow", 10'000), zeroed(kMiB, false, "fast", 100)});
  EXPECT_TRUE(has(sentence_of(apart, "headline", "How far apart they are"), "100 times as long"));
  const Json alone = judged({zeroed(kMiB, false)});
  EXPECT_TRUE(has(sentence_of(alone, "headline", "Redundant zeroing"), "None of 1 allocator writes zeros"));
  EXPECT_EQ(sentence_of(judged({}), "headline", "Coverage"), "From 0 points of 0 allocators.");
}

TEST(SummaryWarnings, SayThatTheRunWasDisturbedAndNothingOtherwise) {
  const auto warned = [](bool busy, const char* state) {
    const Load load{2, 0.1, 0.1, 0.1, busy, "Measured under load."};
    return judged({zeroed(kMiB, true)}, {{"state", state}, {"load", load}});
  };
  EXPECT_EQ(sentence_of(warned(true, "complete"), "warning", "Load"),
            "Measured under load. Times are unreliable; counts are right.");
  EXPECT_TRUE(has(sentence_of(warned(false, "interrupted"), "warning", "Not complete"), "The run is interrupted"));
  const Json quiet = warned(false, "complete");
  for (const Json& sentence : quiet.at("sentences")) EXPECT_NE(sentence.at("part"), "warning");
}

TEST(SummaryAvoid, IsWhatTheProjectsDataSaysOfTheFindings) {
  const std::vector<Json> points{zeroed(kMiB, true, "glibc"), zeroed(kMiB, true, "nobody"), zeroed(kMiB, false, "c")};
  const Json summary = judged(points);
  const Json& allocators = summary.at("allocators");
  EXPECT_TRUE(has(allocators[0].at("avoid").at("text"), "`GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072`"));
  EXPECT_EQ(allocators[1].at("avoid").at("text"), "nothing that is known");
  EXPECT_EQ(allocators[2].at("avoid"), nullptr);
  EXPECT_TRUE(has(one_line_each(summary_text_of(points)), " Avoided by `GLIBC_TUNABLES="));
}

TEST(SummaryRanking, HasThoseThatZeroNeedlesslyFirstAndTheWorstOfThemBeforeTheOthers) {
  const Json summary = judged({zeroed(kMiB, false, "fast", 100), zeroed(kMiB, false, "slow", 90'000),
                               zeroed(kMiB, true, "needless", 1000), zeroed(kMiB, true, "worst", 5000)});
  EXPECT_EQ(summary.at("ranking"), Json({3, 2, 1, 0}));
}

TEST(SummaryReturns, NeedsACallThatGivesBackAndFaultsThatBringItAgain) {
  const auto word = [](const std::vector<std::string>& calls, std::uint64_t faults) {
    const Json point = point_of(Made{.touch = 1, .touch_faults = faults, .free_calls = calls});
    return judged({point}).at("allocators")[0].at("returns").at("word").get<std::string>();
  };
  EXPECT_EQ(word({"munmap"}, 256), "always");
  EXPECT_EQ(word({"madvise"}, 0), "never") << "MADV_FREE or MADV_HUGEPAGE: no memory is refilled";
  EXPECT_EQ(word({}, 256), "never");
}

TEST(SummaryNames, TwoBuildsOfOneAllocatorAreTwoRows) {
  Json built_in = zeroed(kMiB, true);
  Json preloaded = zeroed(kMiB, false);
  preloaded["preload"] = "/tmp/build/libmine.so";
  const Json summary = judged({built_in, preloaded});
  ASSERT_EQ(summary.at("allocators").size(), 2U);
  EXPECT_EQ(summary.at("allocators")[0].at("label"), "a 1.0 {built in}");
  EXPECT_EQ(summary.at("allocators")[1].at("label"), "a 1.0 {libmine.so}");
}

TEST(SummaryRows, ACallInSevenIsSomeOfTheCalls) {
  Json point = point_of({.size = kMiB, .ns = 5000});
  point["modes"] = {{"audit",
                     {{{"ops", 6}, {"share", 0.86}, {"redundant_zeroed_bytes", 0}, {"populated_bytes", 0}},
                      {{"ops", 1}, {"share", 0.14}, {"redundant_zeroed_bytes", kMiB}, {"populated_bytes", kMiB}}}}};
  const Json summary = judged({point});
  const Json& row = summary.at("points").at("rows")[0];
  EXPECT_EQ(row[6], "some");
  ASSERT_EQ(row[13].size(), 1U);
  EXPECT_EQ(row[13][0].at("ops"), 1);
  EXPECT_EQ(row[13][0].at("of_ops"), 7);
  EXPECT_EQ(summary.at("allocators")[0].at("redundant").at("word"), "always") << "the size pays";
}

TEST(SummaryRun, OneThatIsNotCompleteSaysHowFarItGot) {
  const auto unfinished = [](const Json& run) { return judged({zeroed(kMiB, true)}, run).at("run").at("unfinished"); };
  const Json plan{{"points_finished", 1}, {"points_planned", 1234}};
  EXPECT_EQ(unfinished({{"state", "interrupted"}, {"plan", plan}}),
            "The run is interrupted: 1 of 1,234 points is measured.");
  EXPECT_EQ(unfinished({{"state", "running"}, {"plan", {{"points_finished", 0}, {"points_planned", 3}}}}),
            "The run is still going: 0 of 3 points are measured.");
  EXPECT_EQ(unfinished({{"state", "interrupted"}}), "The run is interrupted: ? of ? points are measured.");
  EXPECT_EQ(unfinished({{"state", "complete"}, {"plan", plan}}), nullptr);
  EXPECT_EQ(unfinished(nullptr), nullptr);
}

TEST(SummaryBroken, PromisesComeFirstWithHowManyAndWhy) {
  const Json summary = judged({crashed(2 * kMiB), crashed(kMiB)});
  const Json& headline = summary.at("sentences")[0];
  const Json& broken = summary.at("sentences")[1];
  EXPECT_EQ(headline.at("part"), "headline");
  EXPECT_EQ(broken.at("part"), "broken");
  EXPECT_EQ(broken.at("text"), "crashed at 1 MiB and at 1 more point: signal 6.");
  EXPECT_EQ(headline.at("text"), broken.at("subject").get<std::string>() + " " + broken.at("text").get<std::string>());
  EXPECT_EQ(summary.at("failures").size(), 2U);
  EXPECT_EQ(sentence_of(summary, "coverage", "Coverage"), "From 2 points of 1 allocator, 2 of them without a result.");
}

}  // namespace
}  // namespace zerotax::findings
