#include <gtest/gtest.h>

#include "small_pages.h"
#include "snapshot/runs.h"

namespace zerotax::snapshot {
namespace {

constexpr std::uint64_t kBegin = 1'000'000'000;
constexpr std::uint64_t kMs = 1'000'000;
constexpr pid_t kParent = 7;

SnapshotRun run_of(std::vector<SnapshotFault> faults, std::uint64_t window_ms = 100) {
  SnapshotRun run;
  run.status = Status::kOk;
  run.every_fault = true;
  run.metrics.pid = kParent;
  run.metrics.array_begin = 0x10000;
  run.metrics.array_end = 0x20000;
  run.metrics.window_begin_ns = kBegin;
  run.metrics.window_end_ns = static_cast<std::int64_t>(kBegin + window_ms * kMs);
  run.metrics.gone_ns = kBegin + 50 * kMs;
  run.metrics.window_faults = 4;
  run.faults = std::move(faults);
  return run;
}

SnapshotFault fault(std::uint64_t ms, FaultClass kind, std::uint64_t address = 0x10000, pid_t pid = kParent) {
  return {kBegin + ms * kMs, address, pid, kind};
}

TEST(SnapshotFaults, AreSplitAtTheChildsEnd) {
  ONLY_WITH_SMALL_PAGES();
  const Faults faults = *faults_of(run_of({fault(0, FaultClass::kCopy), fault(49, FaultClass::kReuse),
                                           fault(50, FaultClass::kReuse), fault(100, FaultClass::kReuse)}));
  EXPECT_EQ(faults.before_end.copies, 1U);
  EXPECT_EQ(faults.before_end.reuses, 1U);
  EXPECT_EQ(faults.after_end.reuses, 2U);
  EXPECT_EQ(faults.traced, 4U);
  EXPECT_EQ(faults.counted, 4);
  EXPECT_EQ(faults.pages, 16U);
  EXPECT_DOUBLE_EQ(faults.end_s, 0.05);
}

TEST(SnapshotFaults, OutsideOfTheWindowAreNotCounted) {
  SnapshotRun run = run_of({fault(101, FaultClass::kCopy)});
  run.faults.push_back({kBegin - 1, 0x10000, kParent, FaultClass::kZeroFill});
  EXPECT_EQ(faults_of(run)->traced, 0U);
}

TEST(SnapshotFaults, ElsewhereAndOfTheChildAreKeptApart) {
  const Faults faults =
      *faults_of(run_of({fault(1, FaultClass::kZeroFill, 0xffff), fault(1, FaultClass::kFile, 0x20000),
                         fault(2, FaultClass::kCopy, 0x10000, kParent + 1), fault(3, FaultClass::kOther, 0x1ffff)}));
  EXPECT_EQ(faults.elsewhere.zero_fills, 1U);
  EXPECT_EQ(faults.elsewhere.file_faults, 1U);
  EXPECT_EQ(faults.child.copies, 1U);
  EXPECT_EQ(faults.before_end.other, 1U);
  EXPECT_EQ(faults.before_end.copies, 0U);
  EXPECT_EQ(faults.traced, 3U) << "the child has a count of its own";
}

TEST(SnapshotFaults, OfTheHelperThreadAreNotTheWriters) {
  SnapshotRun run = run_of({fault(51, FaultClass::kReuse), fault(52, FaultClass::kReuse)});
  run.faults[1].tid = 11;
  EXPECT_EQ(faults_of(run)->after_end.reuses, 2U);
  EXPECT_FALSE(faults_of(run)->helper);
  run.metrics.helper_tid = 11;
  run.metrics.helper_bulk_faults = 3;
  const Faults faults = *faults_of(run);
  EXPECT_EQ(faults.after_end.reuses, 1U);
  EXPECT_EQ(faults.helper->reuses, 1U);
  EXPECT_EQ(faults.traced, 2U);
  EXPECT_EQ(faults.counted, 1) << "4, less 3 that populating counted";
}

TEST(SnapshotFaults, TheTimelineHasEachFaultInItsPart) {
  const Faults faults = *faults_of(run_of({fault(0, FaultClass::kCopy), fault(9, FaultClass::kCopy),
                                           fault(10, FaultClass::kReuse), fault(100, FaultClass::kReuse)}));
  EXPECT_EQ(faults.timeline.bin_ns, 10 * kMs);
  ASSERT_EQ(faults.timeline.bins.size(), 11U);
  EXPECT_EQ(faults.timeline.bins[0].copies, 2U);
  EXPECT_EQ(faults.timeline.bins[1].reuses, 1U);
  EXPECT_EQ(faults.timeline.bins[10].reuses, 1U);
}

TEST(SnapshotFaults, ALongTimelineHasLongerParts) {
  const Faults faults = *faults_of(run_of({fault(1999, FaultClass::kCopy)}, 2000));
  EXPECT_EQ(faults.timeline.bin_ns, 40 * kMs);
  EXPECT_LE(faults.timeline.bins.size(), 51U);
  EXPECT_EQ(faults.timeline.bins[49].copies, 1U);
}

TEST(SnapshotFaults, WithoutAChildNoPageIsSaidToBeExclusive) {
  SnapshotRun run = run_of({});
  EXPECT_FALSE(faults_of(run)->exclusive_pages);
  run.metrics.exclusive_pages = 16;
  EXPECT_EQ(faults_of(run)->exclusive_pages, 16);
}

}  // namespace
}  // namespace zerotax::snapshot
