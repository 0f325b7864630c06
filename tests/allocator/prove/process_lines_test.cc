#include "prove/process_lines.h"

#include <gtest/gtest.h>

namespace zerotax::prove {
namespace {

TEST(ProcessLines, HaveTheFindingWithItsNumbers) {
  const ProcessLines lines = parse_lines(
      "sizes 3 thresholds 4 classes\nmissing pvalloc\nunknown thing=1\n"
      "finding not_zero function=calloc id=7 block=0 n=1 m=3000 alignment=0 thread=2 bytes=3000 at=2995 detail=5\n"
      "finding crashed id=3 signal=11\nrecord x episode 1\n");
  ASSERT_TRUE(lines.finding);
  EXPECT_EQ(lines.finding->kind, FindingKind::kNotZero);
  EXPECT_EQ(lines.finding->sentence,
            "calloc(1, 3000) in thread 2 returned 5 bytes that are not zero, the first at offset 2995");
  EXPECT_EQ(lines.missing, std::vector<std::string>{"pvalloc"});
  EXPECT_EQ(lines.last, "record x episode 1");
}

TEST(ProcessLines, OfCrashesHaveTheSignal) {
  EXPECT_EQ(parse_lines("finding crashed id=3 signal=11\n").finding->sentence, "the process was killed by SIGSEGV");
  EXPECT_EQ(parse_lines("finding hung id=3\n").finding->sentence, "a call did not return");
  EXPECT_FALSE(parse_lines("finding of_a_later_version id=3\nfinding\n").finding);
}

TEST(ProcessLines, NameFunctionsOfCxxReadably) {
  EXPECT_EQ(parse_lines("finding misaligned function=_ZnwmRKSt9nothrow_t n=10 m=0\n").finding->sentence,
            "operator new(10) returned an address that is not aligned");
}

TEST(ProcessLines, HaveTheExtent) {
  const Coverage coverage =
      parse_lines(
          "seconds 2.500 episodes 20 operations 200 per_second 80\njobs 2\n"
          "checked_bytes 1000 per_second 400 written_bytes 5 null_results 3\n"
          "operations_of_kind call 150\noperations_of_kind free 50\nzeroing_calls 80\n"
          "reused_by_decade_main 0 0 0 7\nreused_by_decade_other 2\nreused_by_fill 1 8\n"
          "reused_after fork 4\nreused_pages 9 unpopulated 6\nwatched_pages 12 zeroed_by_nobody 5\n"
          "zeroed_by_nobody_by_decade 0 0 0 3\nfeatures 77\nlater_counter 1\n")
          .coverage;
  EXPECT_DOUBLE_EQ(coverage.seconds, 2.5);
  EXPECT_EQ(coverage.processes, 2U);
  EXPECT_EQ(coverage.episodes, 20U);
  EXPECT_EQ(coverage.all_operations(), 200U);
  EXPECT_EQ(coverage.null_results, 3U);
  EXPECT_EQ(coverage.all_reused(), 9U);
  EXPECT_EQ(coverage.reused.at(3).from_bytes, 1000U);
  EXPECT_EQ(coverage.reused.at(3).zeroed_by_nobody.value_or(0), 3U);
  EXPECT_EQ(coverage.reused_by_fill.at(1).name, "all");
  EXPECT_EQ(coverage.reused_after.at(0).count, 4U);
  EXPECT_EQ(coverage.unpopulated_pages, 6U);
  EXPECT_EQ(coverage.zeroed_by_nobody.value_or(0), 5U);
}

TEST(ProcessLines, SayWhyPagesWereNotWatched) {
  const ProcessLines lines = parse_lines("zeroed_by_nobody na the kernel cannot watch pages\ninterrupted\n");
  EXPECT_EQ(lines.coverage.zeroed_by_nobody.why(), "the kernel cannot watch pages");
  EXPECT_TRUE(lines.is_interrupted);
}

TEST(Verdicts, OfASearchThatReusedNothingAreNotClean) {
  Proof proof;
  proof.allocator = {{"name", "mine"}};
  judge(proof);
  EXPECT_EQ(proof.verdict, ProofVerdict::kUntested);
  proof.coverage.reused = {{1, 3, 0, 0}};
  judge(proof);
  EXPECT_EQ(proof.verdict, ProofVerdict::kClean);
  EXPECT_NE(proof.sentence.find("3 of 0 calls that promise zeros reused freed memory"), std::string::npos);
  proof.finding = ProofFinding{.kind = FindingKind::kHung, .sentence = "a call did not return"};
  judge(proof);
  EXPECT_EQ(proof.verdict, ProofVerdict::kFound);
}

}  // namespace
}  // namespace zerotax::prove
