#include "compare/bench.h"

#include <gtest/gtest.h>

#include "committed_documents.h"
#include "compare/compare_document.h"
#include "os/environment.h"

namespace zerotax::compare {
namespace {

using exchange::OutcomeKind;

bench::Observed observed(double faults, double zeroed_bytes = 0, double calls = 0) {
  bench::Counts counts;
  counts.minor_faults = faults;
  counts.zeroed_bytes = zeroed_bytes;
  counts.calls = calls;
  return {{100}, counts};
}

BenchComparison compared(const std::vector<bench::Benchmark>& before, const std::vector<bench::Benchmark>& after) {
  const Json environment = describe_environment();
  return compare_bench_files({"old", {"./b"}, environment, before}, {"new", {"./b"}, environment, after});
}

OutcomeKind kind_of(const bench::Observed& before, const bench::Observed& after) {
  return compared({{"a", before, before}}, {{"a", after, before}}).benchmarks.front().kind;
}

TEST(CompareDocuments, ThatAreCommittedAreWrittenAsTheyWereRead) {
  expect_committed_documents_come_back<CompareDocument>("zerotax.compare/1", 7);
  expect_committed_documents_come_back<AlongDocument>("zerotax.crossover/1", 1);
}

TEST(CompareBench, NeedsAFaultOrAPageAndATenth) {
  EXPECT_EQ(kind_of(observed(10), observed(10.9)), OutcomeKind::kSame);
  EXPECT_EQ(kind_of(observed(0), observed(1)), OutcomeKind::kWorse);
  EXPECT_EQ(kind_of(observed(1000), observed(1050)), OutcomeKind::kSame);
  EXPECT_EQ(kind_of(observed(1000), observed(500)), OutcomeKind::kBetter);
  EXPECT_EQ(kind_of(observed(0, 0), observed(0, static_cast<double>(page_bytes()) - 1)), OutcomeKind::kSame);
  EXPECT_EQ(kind_of(observed(0, 0), observed(0, static_cast<double>(page_bytes()))), OutcomeKind::kWorse);
}

TEST(CompareBench, IsNeitherWhereOneCountGrowsAndAnotherShrinks) {
  EXPECT_EQ(kind_of(observed(0, 2 * static_cast<double>(page_bytes())), observed(8, 0)), OutcomeKind::kChanged);
  EXPECT_EQ(kind_of(observed(0, 0, 5), observed(0, 0, 9)), OutcomeKind::kChanged);
}

TEST(CompareBench, NamesTheFirstThatIsWorse) {
  const BenchComparison comparison = compared({{"a", observed(0), observed(0)}, {"b", observed(2048), observed(0)}},
                                              {{"a", observed(0), observed(0)}, {"b", observed(0), observed(2048)}});
  EXPECT_EQ(comparison.kind, OutcomeKind::kWorse);
  EXPECT_EQ(comparison.sentence, "worse: b, in order: page faults 0 → 2,048; 2 of 4 benchmark runs differ");
  EXPECT_EQ(compared({{"a", observed(1), observed(1)}}, {{"a", observed(1), observed(1)}}).sentence,
            "same: counts of 2 benchmark runs agree");
}

TEST(CompareBench, SaysWhatIsInOneFileAlone) {
  const BenchComparison comparison = compared({{"a", observed(0), observed(0)}}, {{"b", observed(0), observed(0)}});
  ASSERT_EQ(comparison.benchmarks.size(), 4);
  EXPECT_EQ(comparison.kind, OutcomeKind::kSkipped);
  EXPECT_EQ(comparison.benchmarks[0].reason, "NEW: not in this file");
  EXPECT_EQ(comparison.benchmarks[3].reason, "OLD: not in this file");
}

TEST(CompareBench, SaysWhereConditionsDiffer) {
  Json other = describe_environment();
  other["kernel"] = "6.1.0-zerotax";
  const bench::Benchmark entry{"a", observed(0), observed(0)};
  const BenchComparison comparison =
      compare_bench_files({"old", {"./b"}, describe_environment(), {entry}}, {"new", {"./b"}, other, {entry}});
  EXPECT_NE(comparison.notes.front().find("6.1.0-zerotax"), std::string::npos);
}

}  // namespace
}  // namespace zerotax::compare
