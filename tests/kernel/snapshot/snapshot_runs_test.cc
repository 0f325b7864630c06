#include <gtest/gtest.h>

#include "os/processor.h"
#include "small_pages.h"
#include "snapshot/table.h"

namespace zerotax::snapshot {
namespace {

using Pass = SnapshotPass;

SnapshotPlan plan_of(const std::vector<std::string>& alternatives) {
  SnapshotPlan plan;
  plan.allocators = {{"glibc", "", {}, {}, "2.36"}};
  for (const std::string& name : alternatives) plan.alternatives.push_back({name, name, false});
  plan.parameters.array_bytes = 1 << 20;
  plan.parameters.batch_bytes = 4096;
  return plan;
}

/// Metrics of a run other than its times.
using Metrics = std::vector<std::pair<std::int64_t RunMetrics::*, std::int64_t>>;

SnapshotRun run_of(std::int64_t wall_ns, const Metrics& more = {}) {
  SnapshotRun run;
  run.status = Status::kOk;
  run.every_fault = true;
  run.hz = 1000;
  RunMetrics& of = run.metrics;
  of.begin_ns = 1000;
  of.end_ns = 1000 + wall_ns;
  of.stopped_ns = 1100;
  of.released_ns = 1110;
  of.complete_ns = 1150;
  of.told_by_sharing = 1;
  for (const auto& [metric, value] : more) of.*metric = value;
  return run;
}

SnapshotRun ended(Status status, const char* reason) {
  SnapshotRun run;
  run.status = status;
  run.reason = reason;
  return run;
}

Snapshot judged_runs(const SnapshotRuns& runs) {
  Snapshot snapshot = runs.result(true);
  add_verdict(snapshot);
  return snapshot;
}

Result result_of(const SnapshotRuns& runs, std::size_t index = 0) { return judged_runs(runs).results[index]; }

TEST(SnapshotRuns, GivesMediansAndTheSlowdownAgainstNone) {
  SnapshotRuns runs(plan_of({"none", "fork"}));
  for (const std::int64_t wall : {100, 200, 150}) EXPECT_TRUE(runs.take({0, 0, Pass::kTiming, false}, run_of(wall)));
  for (const std::int64_t wall : {700, 600, 900}) {
    EXPECT_TRUE(runs.take({0, 1, Pass::kTiming, false},
                          run_of(wall, {{&RunMetrics::child, 9}, {&RunMetrics::checked_elements, 8}})));
  }
  const Result none = result_of(runs);
  const Result fork = result_of(runs, 1);
  EXPECT_EQ(none.writers_wall_ns->median, 150);
  EXPECT_DOUBLE_EQ(*none.slowdown, 1);
  EXPECT_FALSE(none.snapshot_ns);
  EXPECT_EQ(none.has_child, false);
  EXPECT_DOUBLE_EQ(*fork.slowdown, 700.0 / 150);
  EXPECT_EQ(fork.runs, 3U);
  EXPECT_EQ(fork.stopped_ns->median, 10);
  EXPECT_EQ(fork.snapshot_ns->median, 50);
  EXPECT_EQ(fork.checked_elements, 8);
  EXPECT_FALSE(fork.faults) << "that pass was not run";
}

TEST(SnapshotRuns, HeldRunsGiveWhatIsLeftAfterTheChildsEnd) {
  SnapshotRuns runs(plan_of({"fork"}));
  runs.take({0, 0, Pass::kTiming, false}, run_of(100, {{&RunMetrics::child, 9}, {&RunMetrics::checked_elements, 8}}));
  EXPECT_EQ(result_of(runs).after_end.why(), "interrupted before it was run");
  runs.take({0, 0, Pass::kTiming, true}, run_of(900, {{&RunMetrics::child, 9},
                                                      {&RunMetrics::checked_elements, 8},
                                                      {&RunMetrics::resumed_faults, 256},
                                                      {&RunMetrics::resumed_system_ns, 70}}));
  const Result fork = result_of(runs);
  EXPECT_EQ(fork.writers_wall_ns->median, 100) << "held times are not times of the alternative";
  EXPECT_EQ(fork.after_end->writers_faults.median, 256);
  EXPECT_EQ(fork.after_end->writers_system_ns.median, 70);
  EXPECT_FALSE(fork.after_end->helper);
}

TEST(SnapshotRuns, AHelperHasItsOwnFigures) {
  SnapshotRuns runs(plan_of({"fork_populate"}));
  const Metrics helper{{&RunMetrics::child, 9},
                       {&RunMetrics::checked_elements, 8},
                       {&RunMetrics::helper_tid, 11},
                       {&RunMetrics::helper_begin_ns, 100},
                       {&RunMetrics::helper_end_ns, 150},
                       {&RunMetrics::helper_faults, 256},
                       {&RunMetrics::helper_system_ns, 40}};
  runs.take({0, 0, Pass::kTiming, false}, run_of(100, helper));
  runs.take({0, 0, Pass::kTiming, true}, run_of(100, helper));
  const AfterEnd after = *result_of(runs).after_end;
  EXPECT_EQ(after.helper->wall_ns.median, 50);
  EXPECT_EQ(after.helper->faults.median, 256);
  EXPECT_EQ(after.helper->system_ns.median, 40);
}

TEST(SnapshotRuns, AWrongSnapshotInAnyPassLeavesNoFigure) {
  SnapshotRuns runs(plan_of({"fork"}));
  EXPECT_TRUE(runs.take({0, 0, Pass::kTiming, false}, run_of(100)));
  EXPECT_FALSE(runs.take({0, 0, Pass::kFaults, false}, ended(Status::kWrong, "1 of 8 elements")));
  const Result fork = result_of(runs);
  EXPECT_EQ(fork.status, Status::kWrong);
  EXPECT_EQ(fork.reason, "1 of 8 elements");
  EXPECT_FALSE(fork.writers_wall_ns);
  EXPECT_FALSE(fork.checked_elements);
}

TEST(SnapshotRuns, WhatCannotBeWatchedCostsThatFigureAlone) {
  SnapshotRuns runs(plan_of({"fork"}));
  EXPECT_TRUE(runs.take({0, 0, Pass::kTiming, false}, run_of(100)));
  EXPECT_TRUE(runs.take({0, 0, Pass::kFaults, false}, ended(Status::kNotWatched, "perf events are forbidden")));
  EXPECT_TRUE(runs.take({0, 0, Pass::kProfile, false}, ended(Status::kTimeout, "not done after 1 s")));
  const Result fork = result_of(runs);
  EXPECT_EQ(fork.status, Status::kOk);
  EXPECT_EQ(fork.faults.why(), "perf events are forbidden");
  EXPECT_EQ(fork.cpu.why(), "timeout: not done after 1 s");
  EXPECT_EQ(fork.writers_wall_ns->median, 100);
}

TEST(SnapshotRuns, ATimeoutOfATimingRunIsTheAlternatives) {
  SnapshotRuns runs(plan_of({"fork"}));
  EXPECT_FALSE(runs.take({0, 0, Pass::kTiming, false}, ended(Status::kTimeout, "not done after 1 s")));
  EXPECT_EQ(result_of(runs).status, Status::kTimeout);
}

TEST(SnapshotRuns, WhatWasNotReachedIsSkipped) {
  const Result result = result_of(SnapshotRuns(plan_of({"none"})));
  EXPECT_EQ(result.status, Status::kSkipped);
  EXPECT_NE(result.reason->find("interrupted"), std::string::npos);
}

TEST(SnapshotRuns, FaultsThatAnOrdinaryUserCannotTellApartAreNotAvailable) {
  if (!kHasFaultTracepoints) GTEST_SKIP() << "root cannot tell them apart either";
  SnapshotRuns runs(plan_of({"uffd_wp"}));
  SnapshotRun run = run_of(100, {{&RunMetrics::told_by_sharing, 0}});
  run.every_fault = false;
  runs.take({0, 0, Pass::kTiming, false}, run_of(100));
  runs.take({0, 0, Pass::kFaults, false}, run);
  EXPECT_NE(result_of(runs).faults.why().find("root"), std::string::npos);
}

TEST(SnapshotRuns, MemoryWithoutAnonymousPssIsNotAvailable) {
  SnapshotRuns runs(plan_of({"fork"}));
  runs.take({0, 0, Pass::kTiming, false}, run_of(100));
  runs.take({0, 0, Pass::kMemory, false}, run_of(100, {{&RunMetrics::first_bytes, 0}, {&RunMetrics::peak_bytes, 5}}));
  EXPECT_FALSE(result_of(runs).memory);
}

/// A run of the faults pass: `copies` before the child's end, `late_copies` and `late_reuses` after it.
SnapshotRun faults_of(std::size_t copies, std::size_t late_copies, std::size_t late_reuses) {
  SnapshotRun run = run_of(100, {{&RunMetrics::child, 9},
                                 {&RunMetrics::pid, 7},
                                 {&RunMetrics::array_begin, 0},
                                 {&RunMetrics::array_end, 1 << 20},
                                 {&RunMetrics::window_begin_ns, 100},
                                 {&RunMetrics::window_end_ns, 300},
                                 {&RunMetrics::gone_ns, 200},
                                 {&RunMetrics::checked_elements, 8},
                                 {&RunMetrics::exclusive_pages, 256}});
  for (std::size_t i = 0; i < copies; ++i) run.faults.push_back({150, 0, 7, FaultClass::kCopy});
  for (std::size_t i = 0; i < late_copies; ++i) run.faults.push_back({250, 0, 7, FaultClass::kCopy});
  for (std::size_t i = 0; i < late_reuses; ++i) run.faults.push_back({250, 0, 7, FaultClass::kReuse});
  return run;
}

std::string answers_of(std::size_t held_copies) {
  SnapshotRuns runs(plan_of({"fork"}));
  runs.take({0, 0, Pass::kTiming, false}, run_of(100, {{&RunMetrics::child, 9}, {&RunMetrics::checked_elements, 8}}));
  runs.take({0, 0, Pass::kFaults, false}, faults_of(200, 0, 56));
  runs.take({0, 0, Pass::kFaults, true}, faults_of(0, held_copies, 256 - held_copies));
  std::string text = snapshot_answers(judged_runs(runs));
  for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ")) text.replace(at, 3, " ");
  return text;
}

TEST(SnapshotAnswers, SayThatReusesAreNoCopies) {
  ONLY_WITH_SMALL_PAGES();
  const std::string text = answers_of(0);
  EXPECT_NE(text.find("256 faults (0 copies, 256 reuses, 0 other): it is not copying"), std::string::npos) << text;
  EXPECT_NE(text.find("until the child ended, the parent took 200 faults (200 copies, 0 reuses, 0 other)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("afterwards, 56 faults (0 copies, 56 reuses, 0 other)"), std::string::npos) << text;
  EXPECT_NE(text.find("256 of the array's 256 pages then belonged to the parent alone"), std::string::npos) << text;
}

TEST(SnapshotAnswers, DoNotSaySoWhereItCopies) {
  const std::string text = answers_of(5);
  EXPECT_EQ(text.find("it is not copying"), std::string::npos) << text;
  EXPECT_NE(text.find("(5 copies, 251 reuses, 0 other)"), std::string::npos) << text;
}

TEST(SnapshotAnswers, AreEmptyWhereNothingWasMeasured) {
  EXPECT_EQ(snapshot_answers(judged_runs(SnapshotRuns(plan_of({"fork"})))), "");
}

}  // namespace
}  // namespace zerotax::snapshot
