#include "findings/findings.h"

#include <algorithm>
#include <set>

#include "findings_testing.h"
#include "judge/rule.h"
#include "small_pages.h"

namespace zerotax::findings {
namespace {

constexpr std::uint64_t kHalf = kMiB / 2;

TEST(Findings, AnAllocatorThatZeroesNothingHasNone) {
  ONLY_WITH_SMALL_PAGES();
  EXPECT_EQ(found_in({{}, {.size = 100 * kMiB}, {.thread = "worker"}, {.touch = 1, .touch_faults = 100}}), Ids{});
}

TEST(Findings, FreshMemoryZeroedInEveryCallIsHighFromAMebibyteOn) {
  EXPECT_EQ(found_in({{.redundant = kHalf, .populated = kHalf, .first_redundant = kHalf}}),
            Ids{"a-redundant-fresh-1MiB high"});
  EXPECT_EQ(found_in({{.redundant = kHalf - 1, .populated = kMiB}}), Ids{});
  const std::uint64_t small = 64 * kKiB;
  EXPECT_EQ(found_in({{.size = small, .redundant = small, .populated = small, .first_redundant = small}}),
            Ids{"a-redundant-fresh-64KiB low"});
}

/// Returns the parts of the page that show each finding, by the first part of its id.
Json shown_by_id(const std::vector<Made>& made) {
  std::vector<Json> points;
  points.reserve(made.size());
  for (const Made& each : made) points.push_back(point_of(each));
  const Json found = found_json(points);
  Json shown;
  for (const Json& finding : found.at("findings")) {
    const std::string id = finding.at("id");
    shown[id.substr(2, id.rfind('-') - 2)] = finding.at("shown_in");
  }
  return shown;
}

TEST(Findings, EachRuleSaysWhatOfThePageShowsIt) {
  const std::set<std::string> figures{"time", "faults", "bytes", "heat"};
  for (const FindingRule* rule : FindingRule::all()) EXPECT_TRUE(figures.contains(rule->shown_in().figure));
  EXPECT_EQ(shown_by_id({{.redundant = kHalf, .populated = kHalf, .first_redundant = kHalf}})["redundant-fresh"],
            (Json{{"figure", "heat"}, {"columns", {{"heat.f", "redundant"}}}}));
}

TEST(Findings, WhatTheFirstCallDoesIsShownByTheFigureOfFirstCalls) {
  const Json shown = shown_by_id({{.first_redundant = kMiB, .first_populated = kMiB}});
  const Json first{{"figure", "bytes"}, {"columns", {{"bytes.f", "first_redundant"}}}};
  EXPECT_EQ(shown, (Json{{"first-calls-differ-dearer", first}, {"redundant-fresh-first", first}}));
}

TEST(Findings, FreshMemoryZeroedByTheFirstCallAloneIsLow) {
  // Later calls write no zeros, so the first call also differs from the later ones.
  EXPECT_EQ(found_in({{.first_redundant = kMiB, .first_populated = kMiB}}),
            (Ids{"a-first-calls-differ-dearer-1MiB low", "a-redundant-fresh-first-1MiB low"}));
  EXPECT_EQ(found_in({{.touch = 1, .first_redundant = kHalf, .first_populated = kHalf}}),
            Ids{"a-redundant-fresh-first-1MiB low"});
  EXPECT_EQ(found_in({{.touch = 1, .first_redundant = kHalf, .first_populated = kHalf - 1}}), Ids{});
}

TEST(Findings, AReusedBlockThatNobodyWroteToIsNotFresh) {
  const Made reused{.redundant = kHalf, .first_redundant = kHalf};
  EXPECT_EQ(found_in({reused}), Ids{"a-redundant-reuse-1MiB medium"});
  EXPECT_EQ(found_in({{.redundant = kHalf - 1, .first_redundant = kHalf}}), Ids{});
}

TEST(Findings, ZeroingWhatIsDirtyIsNone) {
  EXPECT_EQ(found_in({{.touch = 1, .zeroed = kMiB, .redundant = 4096, .first_zeroed = kMiB}}), Ids{});
}

TEST(Findings, AFirstCallThatZeroesLessThanLaterOnesIsLow) {
  const Made late{.redundant = kMiB, .first_redundant = kMiB / 20};
  EXPECT_EQ(found_in({late}), (Ids{"a-redundant-reuse-1MiB medium", "a-first-calls-differ-1MiB low"}));
  Made almost = late;
  almost.first_redundant = kMiB / 20 + 1;
  EXPECT_EQ(found_in({almost}), Ids{"a-redundant-reuse-1MiB medium"});
}

TEST(Findings, APurgeStormIsByTheFaultsOfWhatIsTouched) {
  ONLY_WITH_SMALL_PAGES();
  const Made purged{.touch = 1, .touch_faults = 128, .free_calls = {"madvise"}};
  EXPECT_EQ(found_in({purged}), Ids{"a-purge-storm-1MiB medium"});
  Made fewer = purged;
  fewer.touch_faults = 127;
  EXPECT_EQ(found_in({fewer}), Ids{});
  Made unmapped = purged;
  unmapped.free_calls = {"munmap"};
  EXPECT_EQ(found_in({unmapped}), Ids{"a-purge-storm-1MiB low"});
  // One percent of the pages is touched, rounded up to three pages.
  Made little = purged;
  little.touch = 0.01;
  little.touch_faults = 2;
  EXPECT_EQ(found_in({little}), Ids{"a-purge-storm-1MiB medium"});
  little.touch_faults = 1;
  EXPECT_EQ(found_in({little}), Ids{});
}

TEST(Findings, WaysOfPurgingAreFindingsOfTheirOwn) {
  EXPECT_EQ(found_in({{.touch = 1, .touch_faults = 256, .calloc_calls = {"madvise"}},
                      {.size = 100 * kMiB, .touch = 1, .touch_faults = 25600, .free_calls = {"madvise"}}}),
            (Ids{"a-purge-storm-1MiB medium", "a-purge-storm-100MiB medium"}));
}

TEST(Findings, FaultsOfNeedlessZeroingAreNoPurgeStorm) {
  EXPECT_EQ(found_in({{.touch = 1, .redundant = kMiB, .populated = kMiB, .calloc_faults = 256}}),
            Ids{"a-redundant-fresh-1MiB high"});
}

TEST(Findings, ZeroingBeyondTheRequestIsMoreThanRounding) {
  EXPECT_EQ(found_in({{.zeroed = kMiB + kMiB / 16}}), Ids{"a-zeroing-beyond-1MiB low"});
  EXPECT_EQ(found_in({{.zeroed = kMiB + kMiB / 16 - 1}}), Ids{});
  EXPECT_EQ(found_in({{.size = 8192, .zeroed = 8192 + 4095}}), Ids{});
  EXPECT_EQ(found_in({{.size = 20 * kMiB, .first_zeroed = 32 * kMiB}}), Ids{"a-zeroing-beyond-20MiB medium"});
  // 768 KiB fits its size class exactly, so nothing beyond the request is zeroed. The finding's range includes this
  // size.
  EXPECT_EQ(found_in({{.size = 640 * kKiB, .zeroed = 768 * kKiB},
                      {.size = 768 * kKiB, .zeroed = 768 * kKiB},
                      {.size = 896 * kKiB, .zeroed = kMiB}}),
            Ids{"a-zeroing-beyond-640KiB low"});
}

TEST(Findings, RecordsOfANewThreadAreNotBeyondTheRequest) {
  const Made worker{.thread = "worker", .zeroed = 2 * kMiB};
  EXPECT_EQ(found_in({{}, worker}), Ids{});
  EXPECT_EQ(found_in({worker}), Ids{"a-zeroing-beyond-1MiB medium"}) << "no other thread was measured for comparison";
}

TEST(Findings, AWorkerThatCostsTenTimesMoreOrLessDiffers) {
  ONLY_WITH_SMALL_PAGES();
  const Made main{.calloc_faults = 12};
  const Made worker{.thread = "worker", .calloc_faults = 128};
  EXPECT_EQ(found_in({main, worker}), Ids{"a-worker-differs-1MiB medium"});
  EXPECT_EQ(found_in({{.calloc_faults = 13}, worker}), Ids{});
  EXPECT_EQ(found_in({{.calloc_faults = 256}, {.thread = "worker"}}), Ids{"a-worker-differs-cheaper-1MiB medium"});
  EXPECT_EQ(found_in({worker}), Ids{}) << "nothing was measured for comparison";
}

TEST(Findings, WhatAWorkerAloneDoesIsADifferenceAndNoMore) {
  const Made main{};
  const Made worker{.thread = "worker", .redundant = kMiB, .populated = kMiB, .calloc_faults = 256};
  EXPECT_EQ(found_in({main, worker}), Ids{"a-worker-differs-1MiB medium"});
  EXPECT_EQ(found_in({worker}), (Ids{"a-redundant-fresh-1MiB high", "a-first-calls-differ-1MiB low"}));
}

TEST(Findings, MemoryThatIsNotZeroIsHighInWhateverCase) {
  Json point = point_of({});
  point["case"] = "calloc_batch";
  point["status"] = "not_zero";
  point["reason"] = "calloc handed out a block with a non-zero byte at offset 0, operation 2";
  point["violations"] = Json::array({"not_zero"});
  const Json found = found_json({point});
  ASSERT_EQ(found.at("findings").size(), 1U);
  EXPECT_EQ(found.at("findings")[0].at("id"), "a-not-zero-1MiB");
  EXPECT_EQ(found.at("findings")[0].at("severity"), "high");
  EXPECT_NE(found.at("findings")[0].at("sentence").get<std::string>().find("offset 0"), std::string::npos);
}

TEST(Findings, AMisalignedBlockIsHighInWhateverCase) {
  Json point = point_of({});
  point["case"] = "calloc_batch";
  point["status"] = "misaligned";
  point["reason"] = "calloc handed out a block aligned to 8 bytes where 16 are required, operation 1";
  point["violations"] = Json::array({"misaligned"});
  const Json found = found_json({point});
  ASSERT_EQ(found.at("findings").size(), 1U);
  EXPECT_EQ(found.at("findings")[0].at("id"), "a-misaligned-1MiB");
  EXPECT_EQ(found.at("findings")[0].at("severity"), "high");
  EXPECT_NE(found.at("findings")[0].at("sentence").get<std::string>().find("aligned to 8 bytes"), std::string::npos);
}

std::vector<std::string> ids_of(const Json& point) {
  std::vector<std::string> ids;
  const Json found = found_json({point});
  for (const Json& finding : found.at("findings")) {
    ids.push_back(finding.at("id").get<std::string>() + " " + finding.at("severity").get<std::string>());
  }
  return ids;
}

TEST(Findings, ZerosWrittenByFreeAreAFindingRedundantOrNot) {
  Json point = point_of({.touch = 1});
  point["zeroed_in_free_bytes"] = kMiB;
  point["redundant_zeroed_in_free_bytes"] = kMiB / 2;
  EXPECT_EQ(ids_of(point), Ids{"a-zeroing-in-free-redundant-1MiB medium"});
  point["redundant_zeroed_in_free_bytes"] = kMiB / 2 - 1;
  EXPECT_EQ(ids_of(point), Ids{"a-zeroing-in-free-1MiB low"});
  point["zeroed_in_free_bytes"] = kMiB / 2 - 1;
  EXPECT_EQ(ids_of(point), Ids{});
  point["zeroed_in_free_bytes"] = not_available("nobody knows");
  point["redundant_zeroed_in_free_bytes"] = not_available("nobody knows");
  EXPECT_EQ(ids_of(point), Ids{});
}

TEST(Findings, AnUpperBoundOfOnePageIsNoEvidence) {
  ONLY_WITH_SMALL_PAGES();
  Json point = point_of({.size = 8192, .redundant = 4096, .populated = 8192, .calloc_faults = 2});
  EXPECT_FALSE(ids_of(point).empty()) << "exact";
  point["zeroed_bound"] = "at most";
  EXPECT_EQ(ids_of(point), Ids{});
  point["redundant_zeroed_bytes"] = 8192;
  EXPECT_FALSE(ids_of(point).empty()) << "two pages are";
  Json first = point_of({.size = 4096, .first_redundant = 4096, .first_populated = 4096});
  EXPECT_FALSE(ids_of(first).empty()) << "exact";
  first["first_ops"][0]["zeroed_bound"] = "at most";
  EXPECT_EQ(ids_of(first), Ids{});
}

TEST(Findings, AnUpperBoundIsNoFindingByItself) {
  const auto bound = [](Json point) {
    point["zeroed_bound"] = point["first_ops"][0]["zeroed_bound"] = point["zeroed_in_free_bound"] = "at most";
    return point;
  };
  Json reused = bound(point_of({.zeroed = kMiB, .redundant = kMiB, .first_redundant = kMiB}));
  EXPECT_EQ(ids_of(reused), Ids{});
  reused["zero_ns"] = not_available("calloc takes no longer than malloc");
  EXPECT_EQ(ids_of(reused), Ids{});
  reused["zero_ns"] = 500;
  EXPECT_EQ(ids_of(reused), Ids{"a-redundant-reuse-1MiB medium"}) << "the zeros take the time of the stores";

  Made made{.zeroed = kMiB, .redundant = kMiB, .populated = kMiB, .first_redundant = kMiB};
  EXPECT_EQ(ids_of(bound(point_of(made))), Ids{});
  made.calloc_faults = 256;
  EXPECT_EQ(ids_of(bound(point_of(made))), Ids{"a-redundant-fresh-1MiB high"}) << "the zeros take the page faults";

  Json first = bound(point_of({.first_zeroed = kMiB, .first_redundant = kMiB, .first_populated = kMiB}));
  EXPECT_EQ(ids_of(first), Ids{});
  first["first_ops"][0]["calloc_faults"] = 256;
  EXPECT_FALSE(ids_of(first).empty());

  Json in_free = point_of({.touch = 1});
  in_free["zeroed_in_free_bytes"] = in_free["redundant_zeroed_in_free_bytes"] = kMiB;
  EXPECT_EQ(ids_of(in_free).size(), 1U);
  EXPECT_EQ(ids_of(bound(in_free)), Ids{});
  in_free["redundant_zeroed_in_free_bytes"] = 0;
  EXPECT_EQ(ids_of(bound(in_free)), Ids{"a-zeroing-in-free-1MiB low"}) << "the zeros overwrote the program's data";
}

TEST(Findings, FaultsThatCopyAreNoPurgeStorm) {
  Json point = point_of({.touch = 1, .touch_faults = 256, .calloc_calls = {"clone"}});
  point["touch_populated_bytes"] = 0;
  EXPECT_EQ(ids_of(point), Ids{});
  point["touch_populated_bytes"] = kMiB / 2;
  EXPECT_FALSE(ids_of(point).empty());
}

TEST(Findings, ManyPointsOfOneCauseAreOneFindingWithARangeOfSizes) {
  std::vector<Made> points;
  for (const std::uint64_t size : {1, 2, 4, 8, 100, 128}) {
    const std::uint64_t bytes = size * kMiB;
    for (const double touch : {0.0, 1.0}) {
      const std::uint64_t zeros = size != 8 ? bytes : 0;
      points.push_back(
          {.size = bytes, .touch = touch, .redundant = zeros, .populated = zeros, .first_redundant = zeros});
    }
  }
  EXPECT_EQ(found_in(points), (Ids{"a-redundant-fresh-1MiB high", "a-redundant-fresh-100MiB high"}));
}

TEST(Findings, AnIdKeepsItsSizeOnAnotherGrid) {
  const auto id_of = [](const std::vector<std::uint64_t>& sizes) {
    std::vector<Made> points;
    points.reserve(sizes.size());
    for (const std::uint64_t size : sizes) {
      points.push_back({.size = size * kKiB, .redundant = size * kKiB, .first_redundant = size * kKiB});
    }
    return found_in(points);
  };
  EXPECT_EQ(id_of({64, 80, 96, 112, 128, 256, 320, 448}), id_of({64, 256}));
}

TEST(Findings, WhatWasNotMeasuredIsNone) {
  Json point = point_of({.redundant = kMiB, .populated = kMiB});
  point["redundant_zeroed_bytes"] = not_available("old kernel");
  point["status"] = "ok";
  EXPECT_TRUE(found_json({point}).at("findings").empty());
  Json skipped = point_of({.redundant = kMiB, .populated = kMiB});
  skipped["status"] = "skipped";
  EXPECT_TRUE(found_json({skipped}).at("findings").empty());
}

TEST(Findings, WhoDidNotComeToItsEndIsFoundAndItsFiguresAreNot) {
  const auto found = [](const char* status, const char* reason) {
    Json point = point_of({.redundant = kMiB, .populated = kMiB});
    point["status"] = status;
    point["reason"] = reason;
    const Json findings = found_json({point}).at("findings");
    return findings.size() == 1 ? findings.at(0).at("id").get<std::string>() : std::to_string(findings.size());
  };
  EXPECT_EQ(found("crashed", "audit pass: exited with status 0 in calloc, operation 7"), "a-crash-1MiB");
  EXPECT_EQ(found("timeout", "audit pass: not done after 60 s: in calloc, operation 1"), "a-hang-1MiB");
  EXPECT_EQ(found("failed", "audit pass: calloc returned NULL (errno not set), operation 2"), "a-null-1MiB");
  // A missing server for the case is not the allocator's fault.
  EXPECT_EQ(found("failed", "audit pass: no server: while the case was set up"), "0");
}

TEST(Findings, TheRatioIsToTheFastestOtherAtTheSamePoint) {
  const Json found =
      found_json({point_of({.redundant = kMiB, .populated = kMiB, .calloc_faults = 256, .ns = 50'000}),
                  point_of({.allocator = "slow", .ns = 20'000}), point_of({.allocator = "fast", .ns = 1000}),
                  point_of({.allocator = "other", .thread = "worker", .ns = 1})});
  const std::string title = found.at("findings")[0].at("title");
  EXPECT_NE(title.find("50 times as long as fast 1.0"), std::string::npos) << title;
  EXPECT_NE(title.find("256 page faults"), std::string::npos) << title;
}

TEST(Findings, TheTextFitsATerminalOf80Columns) {
  std::vector<Json> points;
  const auto text_of = [](const std::vector<Json>& all) { return findings_text(find_findings(typed_points(all))); };
  for (const char* name : {"glibc", "jemalloc"}) {
    for (const std::uint64_t size : {1, 20, 100}) {
      points.push_back(point_of({.allocator = name, .size = size * kMiB, .touch = 1, .touch_faults = size * 256}));
      points.push_back(point_of({.allocator = name, .size = size * kMiB, .redundant = size * kMiB}));
    }
  }
  const std::string text = text_of(points);
  EXPECT_NE(text.find("glibc-redundant-reuse-100MiB"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\nTo try settings on your own program: zerotax advise -- COMMAND\n")) << text;
  EXPECT_EQ(text_of({}).find("zerotax advise"), std::string::npos) << "nothing was found";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    // A setting is one word that users copy, so it is not cut.
    const bool one_word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;
    EXPECT_TRUE(line.size() <= 80 || one_word) << line;
    begin = end + 1;
  }
}

TEST(FindingsSentence, CountsEachSeverityAndNamesTheFirstOfTheMostSevere) {
  const auto finding = [](Severity severity, const char* title) {
    Finding made;
    made.severity = severity;
    made.title = title;
    return made;
  };
  const auto of = [](const char* allocator, const std::vector<Finding>& findings) {
    return AllocatorFindings{allocator, {}, {}, findings};
  };
  EXPECT_EQ(findings_sentence({}), "No rule found anything to report.");
  EXPECT_EQ(findings_sentence({of("a", {finding(Severity::kLow, "one")})}), "1 of low severity. It is: a: one.");
  EXPECT_EQ(
      findings_sentence({of("a", {finding(Severity::kMedium, "one"), finding(Severity::kLow, "two")}),
                         of("b", {finding(Severity::kHigh, "three")}), of("c", {finding(Severity::kHigh, "four")})}),
      "2 of high severity, 1 of medium severity and 1 of low severity. The first: b: three.");
}

}  // namespace
}  // namespace zerotax::findings
