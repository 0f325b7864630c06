#include <gtest/gtest.h>

#include "compare/verdict.h"

namespace zerotax::compare {
namespace {

/// Returns a point of 1 MiB whose exact metrics are zero, and whose pairs all have this ratio. For a ratio of 0, the
/// point has no pairs.
ComparedPoint point(double ratio) {
  ComparedPoint made{"calloc_loop", 1 << 20, 0, "main", {"old", "", {}, {}}, {"new", "", {}, {}}, {}, ""};
  for (ComparedSide* side : {&made.before, &made.after}) {
    for (const WorkFigure& figure : kWorkFigures) side->work.*figure.of = Figures{0, 0};
  }
  for (int i = 0; i < 16 && ratio > 0; ++i) made.pairs.push_back({1e6, 1e6 * ratio * (1 + 0.001 * i), i % 2 == 0});
  return made;
}

CompareVerdict judged(const ComparedPoint& point) { return judge_points({point}).front(); }

TEST(CompareVerdict, TimeDecidesWhereTheWorkIsTheSame) {
  EXPECT_EQ(judged(point(1)).kind, CompareKind::kSame);
  EXPECT_EQ(judged(point(1.5)).kind, CompareKind::kSlower);
  EXPECT_EQ(judged(point(0.5)).kind, CompareKind::kFaster);
}

TEST(CompareVerdict, MoreWorkIsSlowerAndIsNamed) {
  ComparedPoint more = point(1);
  more.after.work.zeroed_bytes = Figures{1 << 20, 1 << 20};
  const CompareVerdict verdict = judged(more);
  EXPECT_EQ(verdict.kind, CompareKind::kSlower);
  EXPECT_EQ(verdict.reason, "zeroed bytes 0 -> 1,048,576; time is the same");
  std::swap(more.before.work, more.after.work);
  EXPECT_EQ(judged(more).kind, CompareKind::kFaster);
}

TEST(CompareVerdict, MoreWorkInLessTimeIsAmbiguous) {
  ComparedPoint more = point(0.5);
  more.after.work.syscalls = Figures{2, 2};
  EXPECT_EQ(judged(more).kind, CompareKind::kAmbiguous);
}

TEST(CompareVerdict, MoreOfOneAndLessOfAnotherIsDecidedByTime) {
  ComparedPoint mixed = point(1.5);
  mixed.after.work.syscalls = Figures{2, 2};
  mixed.before.work.zeroed_bytes = Figures{1 << 20, 1 << 20};
  EXPECT_EQ(judged(mixed).kind, CompareKind::kSlower);
  mixed.pairs = point(1).pairs;
  EXPECT_EQ(judged(mixed).kind, CompareKind::kSame);
}

TEST(CompareVerdict, AHeaderThatIsZeroedDecidesNothing) {
  ComparedPoint header = point(1);
  header.after.work.zeroed_bytes = Figures{8, 8};
  const CompareVerdict verdict = judged(header);
  EXPECT_EQ(verdict.kind, CompareKind::kSame);
  EXPECT_EQ(verdict.reason, "zeroed bytes 0 -> 8 (decides nothing); time is the same");
}

TEST(CompareVerdict, MoreThan256KiBOfZeroingDecidesAtEverySize) {
  ComparedPoint large = point(1);
  large.size_bytes = 48 << 20;
  large.after.work.zeroed_bytes = Figures{256 << 10, 256 << 10};
  EXPECT_EQ(judged(large).kind, CompareKind::kSame);
  large.after.work.zeroed_bytes = Figures{3 << 20, 3 << 20};
  EXPECT_EQ(judged(large).kind, CompareKind::kSlower);
}

TEST(CompareVerdict, AFigureThatVariesIsNoDifference) {
  ComparedPoint varies = point(1);
  varies.after.work.zeroed_bytes = Figures{1 << 20, 0};
  const CompareVerdict verdict = judged(varies);
  EXPECT_EQ(verdict.kind, CompareKind::kSame);
  EXPECT_EQ(verdict.work[0].after.why(), "0 to 1048576 in 2 processes");
  varies.after.work.zeroed_bytes = Figures{NotAvailable{"no pagemap"}};
  EXPECT_EQ(judged(varies).kind, CompareKind::kSame);
}

TEST(CompareVerdict, FaultsAreHeldApartByTheirRanges) {
  ComparedPoint faults = point(1);
  faults.before.work.faults = Figures{100, 103};
  faults.after.work.faults = Figures{110, 104};
  EXPECT_EQ(judged(faults).kind, CompareKind::kSame) << "eight more may be the kernel's own";
  faults.after.work.faults = Figures{112, 120};
  EXPECT_EQ(judged(faults).kind, CompareKind::kSlower);
}

TEST(CompareVerdict, WhatCannotBeComparedIsInvalidAndSaysWhy) {
  ComparedPoint broken = point(1);
  broken.after.invalid = "crashed: killed by SIGSEGV";
  EXPECT_EQ(judged(broken).kind, CompareKind::kInvalid);
  EXPECT_EQ(judged(broken).reason, "NEW: crashed: killed by SIGSEGV");
  ComparedPoint elsewhere = point(1);
  elsewhere.invalid = "kernel: 6.1 and 6.18";
  EXPECT_EQ(judged(elsewhere).reason, "kernel: 6.1 and 6.18");
}

TEST(CompareVerdict, OneProcessEachProvesNothingUnlessItIsTheSame) {
  ComparedPoint files = point(0);
  files.before.ns = files.after.ns = 1000;
  EXPECT_EQ(judged(files).kind, CompareKind::kSame);
  files.after.ns = 5000;
  EXPECT_EQ(judged(files).kind, CompareKind::kAmbiguous);
  files.after.work.faults = Figures{256};
  EXPECT_EQ(judged(files).kind, CompareKind::kSlower) << "counts are exact";
}

TEST(CompareVerdict, TheExitStatusIsTheWorst) {
  const auto status = [](const std::vector<CompareKind>& kinds) {
    std::vector<CompareVerdict> verdicts;
    verdicts.reserve(kinds.size());
    for (const CompareKind kind : kinds) verdicts.push_back({kind, "", {}, {}});
    return compare_status(verdicts);
  };
  EXPECT_EQ(status({CompareKind::kSame, CompareKind::kSlower, CompareKind::kInvalid}), ExitStatus::kFinding);
  EXPECT_EQ(status({CompareKind::kSame, CompareKind::kAmbiguous}), ExitStatus::kDone);
  EXPECT_EQ(status({CompareKind::kFaster, CompareKind::kInvalid}), ExitStatus::kDone);
  EXPECT_EQ(status({CompareKind::kAmbiguous, CompareKind::kInvalid}), ExitStatus::kMachine);
  EXPECT_EQ(status({}), ExitStatus::kMachine);
}

}  // namespace
}  // namespace zerotax::compare
