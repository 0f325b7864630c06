#include <gtest/gtest.h>

#include "snapshot/runs.h"

namespace zerotax::snapshot {
namespace {

Quantiles range(double low, double median, double high) { return {{median, low, high}}; }

/// The result of an alternative that took a snapshot, with the writers' time and the memory that it added.
Result taken(const char* alternative, bool has_child, const Quantiles& wall, std::int64_t added = 0) {
  Result result;
  result.allocator = "glibc";
  result.alternative = alternative;
  result.status = Status::kOk;
  result.has_child = has_child;
  result.slowdown = 2.0;
  result.writers_wall_ns = wall;
  result.stopped_ns = range(5, 5, 5);
  result.checked_elements = 8;
  result.memory = Memory{1 << 20, (1 << 20) + added, 1};
  return result;
}

Result with_after_end(Result result, double writers_ns, double faults, std::optional<double> helper_ns = std::nullopt) {
  AfterEnd after{1, range(1, 1, 1), range(writers_ns, writers_ns, writers_ns), range(faults, faults, faults), {}};
  if (helper_ns) {
    after.helper = HelperFigures{{}, range(0, 0, 0), range(*helper_ns, *helper_ns, *helper_ns), {}, {}};
  }
  result.after_end = after;
  return result;
}

Snapshot with_verdict(const std::vector<Result>& results) {
  Snapshot snapshot;
  snapshot.parameters.array_bytes = 1 << 26;
  snapshot.results = results;
  for (const Result& result : results) {
    snapshot.alternatives.push_back({result.alternative, result.alternative, std::nullopt, false});
    if (result.alternative == "fork_populate") snapshot.alternatives.back().remedy_of = "fork";
  }
  add_verdict(snapshot);
  return snapshot;
}

Advice advised(const std::vector<Result>& results) { return with_verdict(results).advice.front(); }

TEST(SnapshotAdvice, WhatOneHasIsNotRecommendedAndCommandsMeasureMore) {
  const Advice advice = advised({taken("fork", true, range(9, 10, 11))});
  EXPECT_EQ(*advice.instead_of, "fork");
  for (const auto& best : {advice.least_time, advice.shortest_stop, advice.least_memory, advice.least_time_with_child,
                           advice.no_faults_after_end}) {
    EXPECT_FALSE(best) << *best;
  }
  ASSERT_EQ(advice.next.size(), 2U);
  EXPECT_EQ(advice.next[0].command, "zerotax snapshot --size 64MiB");
  EXPECT_EQ(advice.next[1].command, "zerotax snapshot --size 64MiB --remedies");
}

TEST(SnapshotAdvice, IsOfWhatIsBetterInAllItsRuns) {
  const Result fork = taken("fork", true, range(9, 10, 11), 1000);
  EXPECT_EQ(*advised({fork, taken("uffd_wp", false, range(5, 6, 7), 10)}).least_time, "uffd_wp");
  const Advice near = advised({fork, taken("uffd_wp", false, range(5, 6, 9.5), 950)});
  EXPECT_FALSE(near.least_time);
  EXPECT_FALSE(near.least_memory) << "within a tenth";
  EXPECT_EQ(*advised({fork, taken("uffd_wp", false, range(5, 6, 7), 10)}).least_memory, "uffd_wp");
}

TEST(SnapshotAdvice, OneRunThatIsALittleBetterIsNotClearlyBetter) {
  const Result fork = taken("fork", true, range(100, 100, 100));
  EXPECT_FALSE(advised({fork, taken("uffd_wp", false, range(96, 96, 96))}).least_time);
  EXPECT_EQ(*advised({fork, taken("uffd_wp", false, range(94, 94, 94))}).least_time, "uffd_wp");
}

TEST(SnapshotAdvice, ARemedyForWhatComesAfterTheChildsEndIsNotPraisedForWhatCameBefore) {
  const Result fork = taken("fork", true, range(9, 10, 11), 1000);
  Result remedy = taken("fork_populate", true, range(9, 10, 11), 10);
  remedy.stopped_ns = range(1, 1, 1);
  const Advice advice = advised({fork, remedy});
  EXPECT_FALSE(advice.shortest_stop);
  EXPECT_FALSE(advice.least_memory);
}

TEST(SnapshotAdvice, WithoutAChildTheLeastIsTheLeast) {
  const Advice advice = advised({taken("copy_first", false, range(5, 6, 7)), taken("uffd_wp", false, range(6, 7, 8))});
  EXPECT_FALSE(advice.instead_of);
  EXPECT_EQ(*advice.least_time, "copy_first");
  EXPECT_TRUE(advice.next.empty());
}

TEST(SnapshotRemedy, SaysWhatItMovesAndSaves) {
  const Result fork = with_after_end(taken("fork", true, range(9, 10, 11)), 1000, 500);
  const std::vector<Result> results =
      with_verdict({fork, with_after_end(taken("fork_populate", true, range(9, 10, 11)), 20, 3, 400)}).results;
  const Remedy& remedy = *results[1].remedy;
  EXPECT_EQ(remedy.of, "fork");
  EXPECT_EQ(remedy.effect, Effect::kRemoves);
  EXPECT_EQ(remedy.saved_ns, 580.0);
  EXPECT_EQ(remedy.helper_cpu_ns, 400.0);
  EXPECT_EQ(remedy.faults, (WithAndWithout<double>{500.0, 3.0}));
  EXPECT_EQ(remedy.sentence,
            "fork_populate removes the faults: the writers take 3 faults after the child's end (500 with fork) and "
            "21 ns of CPU time (1.00 µs); the helper thread takes 400 ns. In all, 580 ns less.");
  EXPECT_EQ(results[0].remedy.why(), "it is no remedy");
}

TEST(SnapshotRemedy, ThatLeavesTheFaultsDoesNotHelpAndOneMayCostMore) {
  const Result fork = with_after_end(taken("fork", true, range(9, 10, 11)), 1000, 500);
  const auto remedy = [&](double writers_ns, double faults, double helper_ns) {
    return *with_verdict(
                {fork, with_after_end(taken("fork_populate", true, range(9, 10, 11)), writers_ns, faults, helper_ns)})
                .results[1]
                .remedy;
  };
  EXPECT_EQ(remedy(1000, 499, 10).effect, Effect::kNone);
  EXPECT_EQ(remedy(1000, 100, 10).effect, Effect::kReduces);
  EXPECT_EQ(remedy(0, 0, 1500).saved_ns, -500.0);
  EXPECT_NE(remedy(0, 0, 1500).sentence.find("500 ns more"), std::string::npos);
}

TEST(SnapshotRemedy, OfWhatWasNotMeasuredIsNotAvailable) {
  const Result alone = with_after_end(taken("fork_populate", true, range(9, 10, 11)), 20, 3, 400);
  EXPECT_EQ(with_verdict({alone}).results[0].remedy.why(), "the alternative fork was not measured");
}

}  // namespace
}  // namespace zerotax::snapshot
