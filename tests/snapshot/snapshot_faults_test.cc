#include <gtest/gtest.h>

#include "snapshot/faults.h"

namespace zerotax::snapshot {
namespace {

constexpr std::uint64_t kBegin = 1'000'000'000;
constexpr std::uint64_t kMs = 1'000'000;
constexpr pid_t kParent = 7;

SnapshotRun run_of(std::vector<SnapshotFault> faults, std::uint64_t window_ms = 100) {
  SnapshotRun run;
  run.status = "ok";
  run.every_fault = true;
  run.figures = {{"pid", kParent},
                 {"array_begin", 0x10000},
                 {"array_end", 0x20000},
                 {"window_begin_ns", kBegin},
                 {"window_end_ns", kBegin + window_ms * kMs},
                 {"gone_ns", kBegin + 50 * kMs},
                 {"window_faults", 4}};
  run.faults = std::move(faults);
  return run;
}

SnapshotFault fault(std::uint64_t ms, FaultClass kind, std::uint64_t address = 0x10000, pid_t pid = kParent) {
  return {kBegin + ms * kMs, address, pid, kind};
}

TEST(SnapshotFaults, AreSplitAtTheChildsEnd) {
  const Json json = snapshot_faults_json(run_of({fault(0, FaultClass::kCopy), fault(49, FaultClass::kReuse),
                                                 fault(50, FaultClass::kReuse), fault(100, FaultClass::kReuse)}));
  EXPECT_EQ(json["before_end"]["copies"], 1);
  EXPECT_EQ(json["before_end"]["reuses"], 1);
  EXPECT_EQ(json["after_end"]["reuses"], 2);
  EXPECT_EQ(json["traced"], 4);
  EXPECT_EQ(json["counted"], 4);
  EXPECT_EQ(json["pages"], 16);
  EXPECT_DOUBLE_EQ(json["end_s"].get<double>(), 0.05);
}

TEST(SnapshotFaults, OutsideOfTheWindowAreNotCounted) {
  SnapshotRun run = run_of({fault(101, FaultClass::kCopy)});
  run.faults.push_back({kBegin - 1, 0x10000, kParent, FaultClass::kZeroFill});
  EXPECT_EQ(snapshot_faults_json(run)["traced"], 0);
}

TEST(SnapshotFaults, ElsewhereAndOfTheChildAreKeptApart) {
  const Json json = snapshot_faults_json(
      run_of({fault(1, FaultClass::kZeroFill, 0xffff), fault(1, FaultClass::kFile, 0x20000),
              fault(2, FaultClass::kCopy, 0x10000, kParent + 1), fault(3, FaultClass::kOther, 0x1ffff)}));
  EXPECT_EQ(json["elsewhere"]["zero_fills"], 1);
  EXPECT_EQ(json["elsewhere"]["file_faults"], 1);
  EXPECT_EQ(json["child"]["copies"], 1);
  EXPECT_EQ(json["before_end"]["other"], 1);
  EXPECT_EQ(json["before_end"]["copies"], 0);
  EXPECT_EQ(json["traced"], 3) << "the child has a count of its own";
}

TEST(SnapshotFaults, OfTheHelperThreadAreNotTheWriters) {
  SnapshotRun run = run_of({fault(51, FaultClass::kReuse), fault(52, FaultClass::kReuse)});
  run.faults[1].tid = 11;
  EXPECT_EQ(snapshot_faults_json(run)["after_end"]["reuses"], 2);
  EXPECT_TRUE(is_not_available(snapshot_faults_json(run)["helper"]));
  run.figures["helper_tid"] = 11;
  run.figures["helper_bulk_faults"] = 3;
  const Json json = snapshot_faults_json(run);
  EXPECT_EQ(json["after_end"]["reuses"], 1);
  EXPECT_EQ(json["helper"]["reuses"], 1);
  EXPECT_EQ(json["traced"], 2);
  EXPECT_EQ(json["counted"], 1) << "4 less the 3 that populating counted";
}

TEST(SnapshotFaults, TheTimelineHasEachFaultInItsPart) {
  const Json json = snapshot_faults_json(run_of({fault(0, FaultClass::kCopy), fault(9, FaultClass::kCopy),
                                                 fault(10, FaultClass::kReuse), fault(100, FaultClass::kReuse)}));
  EXPECT_EQ(json["timeline"]["bin_ns"], 10 * kMs);
  ASSERT_EQ(json["timeline"]["bins"].size(), 11U);
  EXPECT_EQ(json["timeline"]["bins"][0]["copies"], 2);
  EXPECT_EQ(json["timeline"]["bins"][1]["reuses"], 1);
  EXPECT_EQ(json["timeline"]["bins"][10]["reuses"], 1);
}

TEST(SnapshotFaults, ALongTimelineHasLongerParts) {
  const Json json = snapshot_faults_json(run_of({fault(1999, FaultClass::kCopy)}, 2000));
  EXPECT_EQ(json["timeline"]["bin_ns"], 40 * kMs);
  EXPECT_LE(json["timeline"]["bins"].size(), 51U);
  EXPECT_EQ(json["timeline"]["bins"][49]["copies"], 1);
}

TEST(SnapshotFaults, WithoutAChildNoPageIsSaidToBeExclusive) {
  SnapshotRun run = run_of({});
  EXPECT_TRUE(is_not_available(snapshot_faults_json(run)["exclusive_pages"]));
  run.figures["exclusive_pages"] = 16;
  EXPECT_EQ(snapshot_faults_json(run)["exclusive_pages"], 16);
}

}  // namespace
}  // namespace zerotax::snapshot
