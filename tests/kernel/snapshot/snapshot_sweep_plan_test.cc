#include <gtest/gtest.h>

#include "base/error.h"
#include "base/size.h"
#include "small_pages.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

SnapshotParameters given() {
  SnapshotParameters parameters;
  parameters.array_bytes = kMiB;
  parameters.batch_bytes = 64 * kKiB;
  parameters.writers = 2;
  parameters.checkpointers = 1;
  return parameters;
}

TEST(SweepPlan, AnAxisThatIsNotNamedHasTheValueOfItsOption) {
  const SweepAxes axes = parse_sweep({"writers=1,4,28", "size=2MiB,4MiB"}, given(), 1);
  EXPECT_EQ(axes.writers, (std::vector<unsigned>{1, 4, 28}));
  EXPECT_EQ(axes.checkpointers, (std::vector<unsigned>{1}));
  EXPECT_EQ(axes.array_bytes, (std::vector<std::uint64_t>{2 * kMiB, 4 * kMiB}));
  EXPECT_EQ(axes.batch_bytes, (std::vector<std::uint64_t>{64 * kKiB}));
}

TEST(SweepPlan, AValueThatIsGivenTwiceIsMeasuredOnce) {
  EXPECT_EQ(parse_sweep({"writers=4,1,4"}, given(), 1).writers, (std::vector<unsigned>{4, 1}));
}

TEST(SweepPlan, WhatIsNoAxisOrNoValueIsRefused) {
  for (const char* word : {"", "writers", "colour=1", "writers=", "writers=1,,2", "writers=0", "writers=257",
                           "writers=1x", "checkpointers=-1", "size=1M", "batch=0"}) {
    EXPECT_THROW(parse_sweep({word}, given(), 1), UsageError) << word;
  }
  EXPECT_THROW(parse_sweep({"writers=1", "writers=2"}, given(), 1), UsageError);
  EXPECT_THROW(parse_sweep({"usual", "writers=2"}, given(), 1), UsageError);
}

TEST(SweepPlan, APlacementNeedsNodes) {
  EXPECT_EQ(parse_sweep({"writers=1"}, given(), 2).placement, std::vector<std::string>{"default"});
  EXPECT_EQ(parse_sweep({"placement=same,apart"}, given(), 2).placement, (std::vector<std::string>{"same", "apart"}));
  EXPECT_THROW(parse_sweep({"placement=same,apart"}, given(), 1), MachineError);
  EXPECT_THROW(parse_sweep({"placement=near"}, given(), 2), UsageError);
  EXPECT_EQ(parse_sweep({"usual"}, given(), 1).placement, std::vector<std::string>{"default"});
  EXPECT_EQ(parse_sweep({"usual"}, given(), 2).placement, (std::vector<std::string>{"same", "apart"}));
}

std::vector<SnapshotPlan> rows_of(const SweepAxes& axes, const std::vector<SnapshotAlternative>& alternatives) {
  SnapshotPlan plan;
  plan.alternatives = alternatives;
  plan.parameters = plan.published = given();
  plan.published.passes = 1;
  return sweep_rows(axes, plan);
}

TEST(SweepPlan, RowsAreAllCombinationsAndThePublishedHaveTheirOwnPasses) {
  SweepAxes axes = parse_sweep({"writers=1,2", "batch=64KiB,128KiB"}, given(), 1);
  SnapshotAlternative own{"published", "", false};
  own.published = true;
  const std::vector<SnapshotPlan> rows = rows_of(axes, {{"fork", "", false}, own});
  const auto at = [&](std::size_t row) { return rows[row].parameters_of(rows[row].alternatives.front()); };
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_EQ(rows[0].alternatives.front().name, "fork");
  EXPECT_EQ(at(0).passes, 2U);
  EXPECT_EQ(rows[1].alternatives.front().name, "published");
  EXPECT_EQ(at(1).passes, 1U);
  EXPECT_EQ(at(2).writers, 2U);
  EXPECT_EQ(at(4).batch_bytes, 128 * kKiB);
}

TEST(SweepPlan, ABatchThatIsTooLargeMakesNoRowUnlessThereIsNoOther) {
  ONLY_WITH_SMALL_PAGES();
  const SweepAxes axes = parse_sweep({"size=64KiB,1MiB", "batch=4KiB,128KiB"}, given(), 1);
  EXPECT_EQ(rows_of(axes, {{"fork", "", false}}).size(), 3U);
  EXPECT_THROW(rows_of(parse_sweep({"batch=2MiB"}, given(), 1), {{"fork", "", false}}), UsageError);
}

Counts counts(std::uint64_t copies, std::uint64_t reuses) { return {{copies, reuses}}; }

SweptRow row(const Measured<std::uint64_t>& first_runs, const Counts& before, const Counts& after) {
  SweptRow made;
  made.status = Status::kOk;
  made.runs = 5;
  made.copy_done_first_runs = first_runs;
  SweptFaults faults;
  faults.before_end = before;
  faults.after_end = after;
  faults.pages = 1000;
  made.faults = faults;
  return made;
}

SweptRow failed_row() {
  SweptRow made = row(0, counts(0, 0), counts(0, 0));
  made.status = Status::kFailed;
  made.reason = "out of memory";
  return made;
}

Sweep judged_sweep(const std::vector<SweptRow>& rows) {
  Sweep sweep;
  sweep.rows = rows;
  add_sweep_verdict(sweep);
  return sweep;
}

TEST(SweepVerdict, SaysUntilWhenTheKernelCopies) {
  const auto verdict = [](const SweptRow& of) { return sweep_verdict(of)->is_it_copying; };
  EXPECT_EQ(verdict(row(5, counts(0, 0), counts(0, 1000))), IsItCopying::kNo);
  EXPECT_EQ(verdict(row(5, counts(400, 0), counts(20, 580))), IsItCopying::kUntilEnd) << "20 are strays";
  EXPECT_EQ(verdict(row(5, counts(400, 0), counts(21, 579))), IsItCopying::kAfterEnd);
  SweptRow unseen = row(5, counts(0, 0), counts(0, 0));
  unseen.faults = NotAvailable{"seen as root only"};
  EXPECT_EQ(verdict(unseen).why(), "seen as root only");
}

TEST(SweepVerdict, SaysHowOftenTheCopyIsDoneFirst) {
  const auto first = [](const Measured<std::uint64_t>& runs) {
    return sweep_verdict(row(runs, counts(400, 0), counts(0, 600)))->copy_done_first;
  };
  EXPECT_EQ(first(0), DoneFirst::kNever);
  EXPECT_EQ(first(3), DoneFirst::kSometimes);
  EXPECT_EQ(first(5), DoneFirst::kAlways);
  EXPECT_FALSE(first(NotAvailable{"it takes no snapshot"}));
  EXPECT_EQ(
      sweep_verdict(row(3, counts(400, 0), counts(0, 600)))->sentence,
      "the copy is done before the writers are in 3 of 5 runs; the kernel copies 400 pages until the copy is done "
      "and its child has ended, after it 0 copied and 600 reused.");
}

TEST(SweepVerdict, NamesRowsWhoseFaultsWereLost) {
  const SweptRow whole = row(5, counts(400, 0), counts(0, 600));
  EXPECT_FALSE(judged_sweep({whole}).loss);
  SweptRow incomplete = whole;
  incomplete.alternative = "fork";
  static_cast<SnapshotParameters&>(incomplete) = given();
  incomplete.writers = 1;
  incomplete.checkpointers = 4;
  incomplete.placement = "apart";
  (*incomplete.faults).lost = 12;
  EXPECT_EQ(*judged_sweep({whole, incomplete}).loss,
            "Counts of faults are too low, because events came faster than they could be read: fork, 1 MiB in batches "
            "of 64 KiB, 1 writer, 4 checkpointers, apart (12 events lost). Measure a smaller array, or use fewer "
            "threads.");
}

TEST(SweepVerdict, OfAllRowsIsOneSentence) {
  const Sweep sweep =
      judged_sweep({row(5, counts(1, 0), counts(0, 0)), row(4, counts(1, 0), counts(900, 0)), failed_row()});
  EXPECT_EQ(
      *sweep.sentence,
      "The copy is always done before the writers are in 1 of 2 rows; the kernel continues copying after the child's "
      "end in 1.");
  EXPECT_EQ(sweep.rows[2].verdict.why(), "out of memory");
  EXPECT_FALSE(judged_sweep({failed_row()}).sentence);
}

}  // namespace
}  // namespace zerotax::snapshot
