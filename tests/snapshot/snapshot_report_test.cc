#include <gtest/gtest.h>

#include "snapshot/document.h"

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

SnapshotRun run_of(std::int64_t wall_ns, std::map<std::string, std::int64_t> more = {}) {
  SnapshotRun run;
  run.status = "ok";
  run.every_fault = true;
  run.hz = 1000;
  run.figures = {{"begin_ns", 1000},    {"end_ns", 1000 + wall_ns}, {"stopped_ns", 1100},     {"released_ns", 1110},
                 {"complete_ns", 1150}, {"writers_user_ns", 3},     {"writers_system_ns", 4}, {"told_by_sharing", 1}};
  run.figures.merge(more);
  return run;
}

SnapshotRun ended(const char* status, const char* reason) {
  SnapshotRun run;
  run.status = status;
  run.reason = reason;
  return run;
}

Json json_of(const SnapshotReport& report) { return report.json(true, "2026-11-20T05:10:00Z", {"zerotax"}, {}); }

TEST(SnapshotReport, GivesMediansAndTheSlowdownAgainstNone) {
  SnapshotReport report(plan_of({"none", "fork"}));
  for (const std::int64_t wall : {100, 200, 150}) EXPECT_TRUE(report.take({0, 0, Pass::kTiming, false}, run_of(wall)));
  for (const std::int64_t wall : {700, 600, 900}) {
    EXPECT_TRUE(report.take({0, 1, Pass::kTiming, false}, run_of(wall, {{"child", 9}, {"checked_elements", 8}})));
  }
  const Json none = json_of(report)["results"][0];
  const Json fork = json_of(report)["results"][1];
  EXPECT_EQ(none["writers_wall_ns"]["median"], 150);
  EXPECT_DOUBLE_EQ(none["slowdown"].get<double>(), 1);
  EXPECT_TRUE(is_not_available(none["snapshot_ns"]));
  EXPECT_EQ(none["has_child"], false);
  EXPECT_DOUBLE_EQ(fork["slowdown"].get<double>(), 700.0 / 150);
  EXPECT_EQ(fork["runs"], 3);
  EXPECT_EQ(fork["stopped_ns"]["median"], 10);
  EXPECT_EQ(fork["snapshot_ns"]["median"], 50);
  EXPECT_EQ(fork["checked_elements"], 8);
  EXPECT_TRUE(is_not_available(fork["faults"])) << "that pass was not run";
}

TEST(SnapshotReport, HeldRunsGiveWhatIsLeftAfterTheChildsEnd) {
  SnapshotReport report(plan_of({"fork"}));
  report.take({0, 0, Pass::kTiming, false}, run_of(100, {{"child", 9}, {"checked_elements", 8}}));
  EXPECT_EQ(json_of(report)["results"][0]["after_end"]["na"], "interrupted before it was run");
  report.take({0, 0, Pass::kTiming, true},
              run_of(900, {{"child", 9}, {"checked_elements", 8}, {"resumed_faults", 256}, {"resumed_system_ns", 70}}));
  const Json fork = json_of(report)["results"][0];
  EXPECT_EQ(fork["writers_wall_ns"]["median"], 100) << "held times are no times of the alternative";
  EXPECT_EQ(fork["after_end"]["writers_faults"]["median"], 256);
  EXPECT_EQ(fork["after_end"]["writers_system_ns"]["median"], 70);
  EXPECT_TRUE(is_not_available(fork["after_end"]["helper"]));
}

TEST(SnapshotReport, AHelperHasItsOwnFigures) {
  SnapshotReport report(plan_of({"fork_populate"}));
  const std::map<std::string, std::int64_t> helper{
      {"child", 9},           {"checked_elements", 8}, {"helper_tid", 11},      {"helper_begin_ns", 100},
      {"helper_end_ns", 150}, {"helper_faults", 256},  {"helper_system_ns", 40}};
  report.take({0, 0, Pass::kTiming, false}, run_of(100, helper));
  report.take({0, 0, Pass::kTiming, true}, run_of(100, helper));
  const Json after = json_of(report)["results"][0]["after_end"];
  EXPECT_EQ(after["helper"]["wall_ns"]["median"], 50);
  EXPECT_EQ(after["helper"]["faults"]["median"], 256);
  EXPECT_EQ(after["helper"]["system_ns"]["median"], 40);
}

TEST(SnapshotReport, AWrongSnapshotInAnyPassLeavesNoFigure) {
  SnapshotReport report(plan_of({"fork"}));
  EXPECT_TRUE(report.take({0, 0, Pass::kTiming, false}, run_of(100)));
  EXPECT_FALSE(report.take({0, 0, Pass::kFaults, false}, ended("wrong", "1 of 8 elements")));
  const Json fork = json_of(report)["results"][0];
  EXPECT_EQ(fork["status"], "wrong");
  EXPECT_EQ(fork["reason"], "1 of 8 elements");
  EXPECT_TRUE(is_not_available(fork["writers_wall_ns"]));
  EXPECT_TRUE(is_not_available(fork["checked_elements"]));
}

TEST(SnapshotReport, WhatCannotBeWatchedCostsThatFigureAlone) {
  SnapshotReport report(plan_of({"fork"}));
  EXPECT_TRUE(report.take({0, 0, Pass::kTiming, false}, run_of(100)));
  EXPECT_TRUE(report.take({0, 0, Pass::kFaults, false}, ended("not_watched", "perf events are forbidden")));
  EXPECT_TRUE(report.take({0, 0, Pass::kProfile, false}, ended("timeout", "not done after 1 s")));
  const Json fork = json_of(report)["results"][0];
  EXPECT_EQ(fork["status"], "ok");
  EXPECT_EQ(fork["faults"]["na"], "perf events are forbidden");
  EXPECT_EQ(fork["cpu"]["na"], "timeout: not done after 1 s");
  EXPECT_EQ(fork["writers_wall_ns"]["median"], 100);
}

TEST(SnapshotReport, ATimeoutOfATimingRunIsTheAlternatives) {
  SnapshotReport report(plan_of({"fork"}));
  EXPECT_FALSE(report.take({0, 0, Pass::kTiming, false}, ended("timeout", "not done after 1 s")));
  EXPECT_EQ(json_of(report)["results"][0]["status"], "timeout");
}

TEST(SnapshotReport, WhatWasNotReachedIsSkipped) {
  const Json result = json_of(SnapshotReport(plan_of({"none"})))["results"][0];
  EXPECT_EQ(result["status"], "skipped");
  EXPECT_NE(result["reason"].get<std::string>().find("interrupted"), std::string::npos);
}

TEST(SnapshotReport, FaultsThatAnOrdinaryUserCannotTellApartAreNotAvailable) {
  SnapshotReport report(plan_of({"uffd_wp"}));
  SnapshotRun run = run_of(100, {{"told_by_sharing", 0}});
  run.figures["told_by_sharing"] = 0;
  run.every_fault = false;
  report.take({0, 0, Pass::kTiming, false}, run_of(100));
  report.take({0, 0, Pass::kFaults, false}, run);
  EXPECT_NE(json_of(report)["results"][0]["faults"]["na"].get<std::string>().find("root"), std::string::npos);
}

TEST(SnapshotReport, MemoryWithoutAnonymousPssIsNotAvailable) {
  SnapshotReport report(plan_of({"fork"}));
  report.take({0, 0, Pass::kTiming, false}, run_of(100));
  report.take({0, 0, Pass::kMemory, false}, run_of(100, {{"first_bytes", 0}, {"peak_bytes", 5}}));
  EXPECT_TRUE(is_not_available(json_of(report)["results"][0]["memory"]));
}

/// A run of the pass of faults: so many copies before the child's end, so many of the rest after it.
SnapshotRun faults_of(std::size_t copies, std::size_t late_copies, std::size_t late_reuses) {
  SnapshotRun run = run_of(100, {{"child", 9},
                                 {"pid", 7},
                                 {"array_begin", 0},
                                 {"array_end", 1 << 20},
                                 {"window_begin_ns", 100},
                                 {"window_end_ns", 300},
                                 {"gone_ns", 200},
                                 {"checked_elements", 8},
                                 {"exclusive_pages", 256}});
  for (std::size_t i = 0; i < copies; ++i) run.faults.push_back({150, 0, 7, FaultClass::kCopy});
  for (std::size_t i = 0; i < late_copies; ++i) run.faults.push_back({250, 0, 7, FaultClass::kCopy});
  for (std::size_t i = 0; i < late_reuses; ++i) run.faults.push_back({250, 0, 7, FaultClass::kReuse});
  return run;
}

/// One line.
std::string answers_of(std::size_t held_copies) {
  SnapshotReport report(plan_of({"fork"}));
  report.take({0, 0, Pass::kTiming, false}, run_of(100, {{"child", 9}, {"checked_elements", 8}}));
  report.take({0, 0, Pass::kFaults, false}, faults_of(200, 0, 56));
  report.take({0, 0, Pass::kFaults, true}, faults_of(0, held_copies, 256 - held_copies));
  std::string text = snapshot_answers(json_of(report));
  for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ")) text.replace(at, 3, " ");
  return text;
}

TEST(SnapshotAnswers, SayThatReusesAreNoCopies) {
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
  EXPECT_EQ(snapshot_answers(json_of(SnapshotReport(plan_of({"fork"})))), "");
}

}  // namespace
}  // namespace zerotax::snapshot
