#include "top/account.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "os/page.h"

namespace zerotax::top {
namespace {

const std::uint64_t kPage = page_bytes();
constexpr double kFaultNs = 500;

Process process(pid_t pid, std::uint64_t minor, pid_t parent = 1) {
  Process made;
  made.pid = pid;
  made.parent = parent;
  made.start_ticks = 10;
  made.name = "program";
  made.minor_faults = minor;
  made.cpu_ns = static_cast<std::int64_t>(minor) * 1000;
  return made;
}

/// Returns a scan at this second. In this scan, the machine has taken this number of faults.
Look look(int second, std::uint64_t machine_faults, std::vector<Process> processes) {
  Look made;
  made.time_ns = second * 1'000'000'000LL;
  made.boot_ticks = static_cast<std::uint64_t>(second) * 100 + 1000;
  made.machine.faults = machine_faults;
  made.huge = 0;
  made.processes = std::move(processes);
  return made;
}

const Usage& row_of(const Sample& sample, pid_t pid) {
  return *std::find_if(sample.rows.begin(), sample.rows.end(), [&](const Usage& row) { return row.pid == pid; });
}

class Accounting : public ::testing::Test {
 protected:
  Account account_{Measured<double>(kFaultNs)};

  Sample next(const Look& seen) { return *account_.advance(seen); }
};

TEST_F(Accounting, TheFirstLookIsNoInterval) { EXPECT_FALSE(account_.advance(look(0, 0, {process(7, 100)}))); }

TEST_F(Accounting, FaultsAreThoseOfTheInterval) {
  account_.advance(look(0, 1000, {process(7, 100)}));
  const Sample sample = next(look(2, 2000, {process(7, 850)}));
  EXPECT_DOUBLE_EQ(sample.interval_s, 2);
  EXPECT_EQ(sample.rows.at(0).minor_faults, 750U);
  EXPECT_EQ(sample.rows.at(0).zeroed_at_most_bytes, 750 * kPage);
  EXPECT_EQ(*sample.machine.faults, 1000U);
  EXPECT_EQ(*sample.machine.unseen_faults, 250U);
  EXPECT_DOUBLE_EQ(*sample.machine.unseen_share, 0.25);
}

TEST_F(Accounting, GrowthIsNotRefilledAndTheSecondFillIs) {
  Process grows = process(7, 100);
  grows.anonymous_bytes = 100 * kPage;
  account_.advance(look(0, 0, {grows}));
  grows.minor_faults = 1100;
  grows.anonymous_bytes = 1100 * kPage;
  EXPECT_EQ(*next(look(1, 1000, {grows})).rows.at(0).refilled_at_most_bytes, 0U);
  grows.minor_faults = 1200;  // the process returned 1,000 pages, and populated 100 of these pages again
  grows.anonymous_bytes = 200 * kPage;
  EXPECT_EQ(*next(look(2, 2000, {grows})).rows.at(0).refilled_at_most_bytes, 100 * kPage);
  grows.minor_faults = 2400;  // the process populated 900 pages up to its earlier peak, and 300 pages beyond it
  grows.anonymous_bytes = 1400 * kPage;
  EXPECT_EQ(*next(look(3, 4000, {grows})).rows.at(0).refilled_at_most_bytes, 900 * kPage);
}

TEST_F(Accounting, AProcessThatBeganCountsFromItsStartAndItsRefillIsUnknown) {
  account_.advance(look(0, 0, {process(1, 0, 0)}));
  Process begins = process(9, 300);
  begins.start_ticks = 1050;
  const Sample sample = next(look(1, 300, {process(1, 0, 0), begins}));
  EXPECT_EQ(sample.begun, 1U);
  EXPECT_EQ(row_of(sample, 9).minor_faults, 300U);
  EXPECT_FALSE(row_of(sample, 9).refilled_at_most_bytes);
  EXPECT_EQ(*sample.machine.unseen_faults, 0U);
}

TEST_F(Accounting, AProcessThatWasHiddenDoesNotBringItsPast) {
  account_.advance(look(0, 0, {process(1, 0, 0)}));
  const Sample sample = next(look(1, 300, {process(1, 0, 0), process(9, 1'000'000)}));
  EXPECT_EQ(row_of(sample, 9).minor_faults, 0U);
}

TEST_F(Accounting, APidThatIsUsedAgainIsAnotherProcess) {
  account_.advance(look(0, 0, {process(1, 0, 0), process(9, 5000)}));
  Process other = process(9, 40);
  other.start_ticks = 1099;
  Process init = process(1, 0, 0);
  init.children_minor_faults = 5000;
  const Sample sample = next(look(1, 100, {init, other}));
  EXPECT_EQ(row_of(sample, 9).minor_faults, 40U);
  EXPECT_EQ(row_of(sample, 1).children_faults, 0U) << "an earlier scan counted these faults";
  EXPECT_EQ(sample.begun, 1U);
  EXPECT_EQ(sample.ended, 1U);
}

TEST_F(Accounting, ChildrenThatNobodySawCountForTheirParent) {
  account_.advance(look(0, 0, {process(7, 10)}));
  Process parent = process(7, 30);
  parent.children_minor_faults = 12'000;
  parent.children_cpu_ns = 20'000'000;
  const Sample sample = next(look(1, 12'100, {parent}));
  EXPECT_EQ(row_of(sample, 7).minor_faults, 20U);
  EXPECT_EQ(row_of(sample, 7).children_faults, 12'000U);
  EXPECT_EQ(row_of(sample, 7).zeroed_at_most_bytes, 12'020 * kPage);
  EXPECT_EQ(row_of(sample, 7).cpu_ns, 20'020'000);
  EXPECT_EQ(*sample.machine.unseen_faults, 80U);
}

TEST_F(Accounting, OfAChildThatWasSeenOnlyTheRestCounts) {
  account_.advance(look(0, 0, {process(7, 10), process(8, 5000, 7)}));
  Process parent = process(7, 10);
  parent.children_minor_faults = 5600;
  const Sample sample = next(look(1, 600, {parent}));
  EXPECT_EQ(row_of(sample, 7).children_faults, 600U);
  EXPECT_EQ(*sample.machine.unseen_faults, 0U);
}

TEST_F(Accounting, AChildThatHasGoneBeforeItsParentKnowsIsSubtractedLater) {
  account_.advance(look(0, 0, {process(7, 10), process(8, 5000, 7)}));
  EXPECT_EQ(row_of(next(look(1, 600, {process(7, 10)})), 7).children_faults, 0U);
  Process parent = process(7, 10);
  parent.children_minor_faults = 5600;
  EXPECT_EQ(row_of(next(look(2, 1200, {parent})), 7).children_faults, 600U);
}

TEST_F(Accounting, AParentThatNeverWaitsOwesNothingForEver) {
  account_.advance(look(0, 0, {process(7, 10), process(8, 5000, 7)}));
  next(look(1, 0, {process(7, 10)}));
  next(look(2, 0, {process(7, 10)}));
  Process parent = process(7, 10);
  parent.children_minor_faults = 300;
  EXPECT_EQ(row_of(next(look(3, 300, {parent})), 7).children_faults, 300U);
}

TEST_F(Accounting, AFamilyThatEndsIsSubtractedFromWhoWaitedForIt) {
  account_.advance(look(0, 0, {process(1, 0, 0), process(7, 10), process(8, 2000, 7), process(9, 3000, 8)}));
  // Process 7 waited for process 8, which had waited for process 9. Process 9 had taken 3,500 faults at its end.
  Process waits = process(7, 10);
  waits.children_minor_faults = 2000 + 3500;
  EXPECT_EQ(row_of(next(look(1, 500, {process(1, 0, 0), waits})), 7).children_faults, 500U);
}

TEST_F(Accounting, AnOrphanIsSubtractedFromItsNewParent) {
  account_.advance(look(0, 0, {process(1, 0, 0), process(7, 10), process(8, 2000, 7), process(9, 3000, 8)}));
  Process waits = process(7, 10);
  waits.children_minor_faults = 2000;
  Process init = process(1, 0, 0);
  init.children_minor_faults = 3100;
  const Sample sample = next(look(1, 100, {init, waits}));
  EXPECT_EQ(row_of(sample, 7).children_faults, 0U);
  EXPECT_EQ(row_of(sample, 1).children_faults, 100U);
}

TEST_F(Accounting, UnseenIsNeverNegativeAndNeverMoreThanAll) {
  account_.advance(look(0, 5000, {process(7, 0)}));
  // The process took 30 faults after the machine's count was read.
  Sample sample = next(look(1, 5100, {process(7, 130)}));
  EXPECT_EQ(*sample.machine.unseen_faults, 0U);
  EXPECT_DOUBLE_EQ(*sample.machine.unseen_share, 0);
  sample = next(look(2, 5200, {process(7, 130)}));
  EXPECT_DOUBLE_EQ(*sample.machine.unseen_share, 1);
  EXPECT_FALSE(next(look(3, 5200, {process(7, 130)})).machine.unseen_share) << "nothing of nothing";
}

TEST_F(Accounting, TheShareOfFaultsIsNeverAboveOne) {
  account_.advance(look(0, 0, {process(7, 0)}));
  Process cheap = process(7, 10'000);
  cheap.cpu_ns = 1'000'000;  // less CPU time than 10,000 faults of 500 ns would take
  EXPECT_DOUBLE_EQ(*next(look(1, 10'000, {cheap})).rows.at(0).fault_cpu_share, 1);
  cheap.minor_faults = 11'000;
  cheap.cpu_ns += 2'000'000;
  EXPECT_DOUBLE_EQ(*next(look(2, 11'000, {cheap})).rows.at(0).fault_cpu_share, 0.25);
  EXPECT_FALSE(next(look(3, 11'000, {cheap})).rows.at(0).fault_cpu_share) << "no CPU time, no share";
}

TEST_F(Accounting, HugePagesOfTheMachineWidenTheBound) {
  account_.advance(look(0, 0, {process(7, 0), process(8, 0)}));
  Look after = look(1, 0, {process(7, 10), process(8, 1000)});
  after.huge = 50 * huge_page_bytes();
  const Sample sample = next(after);
  EXPECT_EQ(row_of(sample, 7).zeroed_at_most_bytes, 10 * (kPage + huge_page_bytes()));
  EXPECT_EQ(row_of(sample, 8).zeroed_at_most_bytes, 1000 * kPage + *after.huge);
}

TEST_F(Accounting, WithoutVmstatTheMachineIsNotAvailable) {
  Look none = look(0, 0, {process(7, 0)});
  none.machine = {};
  account_.advance(none);
  const Sample sample = next(look(1, 0, {process(7, 10)}));
  EXPECT_FALSE(sample.machine.faults);
  EXPECT_FALSE(sample.machine.unseen_share);
  EXPECT_EQ(sample.rows.at(0).minor_faults, 10U);
}

}  // namespace
}  // namespace zerotax::top
