#include <gtest/gtest.h>

#include "base/error.h"
#include "base/size.h"
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

TEST(SweepPlan, RowsAreAllCombinationsAndThePublishedHaveTheirOwnPasses) {
  SweepAxes axes = parse_sweep({"writers=1,2", "batch=64KiB,128KiB"}, given(), 1);
  SnapshotParameters published = given();
  published.passes = 1;
  SnapshotAlternative own{"published", "", false};
  own.published = true;
  const std::vector<SweepRow> rows = sweep_rows(axes, {{"fork", "", false}, own}, given(), published);
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_EQ(rows[0].alternative.name, "fork");
  EXPECT_EQ(rows[0].parameters.passes, 2U);
  EXPECT_EQ(rows[1].alternative.name, "published");
  EXPECT_EQ(rows[1].parameters.passes, 1U);
  EXPECT_EQ(rows[2].parameters.writers, 2U);
  EXPECT_EQ(rows[4].parameters.batch_bytes, 128 * kKiB);
}

TEST(SweepPlan, ABatchThatIsTooLargeMakesNoRowUnlessThereIsNoOther) {
  const SweepAxes axes = parse_sweep({"size=64KiB,1MiB", "batch=4KiB,128KiB"}, given(), 1);
  EXPECT_EQ(sweep_rows(axes, {{"fork", "", false}}, given(), given()).size(), 3U);
  EXPECT_THROW(sweep_rows(parse_sweep({"batch=2MiB"}, given(), 1), {{"fork", "", false}}, given(), given()),
               UsageError);
}

Json counts(int copies, int reuses) {
  return {{"copies", copies}, {"reuses", reuses}, {"zero_fills", 0}, {"file_faults", 0}, {"other", 0}};
}

Json row(const Json& first_runs, const Json& before, const Json& after) {
  return {{"status", "ok"},
          {"reason", nullptr},
          {"runs", 5},
          {"copy_done_first_runs", first_runs},
          {"faults", {{"lost", 0}, {"before_end", before}, {"after_end", after}, {"pages", 1000}}}};
}

TEST(SweepVerdict, SaysUntilWhenTheKernelCopies) {
  EXPECT_EQ(sweep_verdict(row(5, counts(0, 0), counts(0, 1000)))["is_it_copying"], "no");
  EXPECT_EQ(sweep_verdict(row(5, counts(400, 0), counts(20, 580)))["is_it_copying"], "until_end") << "20 are strays";
  EXPECT_EQ(sweep_verdict(row(5, counts(400, 0), counts(21, 579)))["is_it_copying"], "after_end");
  Json unseen = row(5, counts(0, 0), counts(0, 0));
  unseen["faults"] = not_available("seen as root only");
  EXPECT_EQ(sweep_verdict(unseen)["is_it_copying"], not_available("seen as root only"));
}

TEST(SweepVerdict, SaysHowOftenTheCopyIsDoneFirst) {
  const auto first = [](const Json& runs) {
    return sweep_verdict(row(runs, counts(400, 0), counts(0, 600)))["copy_done_first"];
  };
  EXPECT_EQ(first(0), "never");
  EXPECT_EQ(first(3), "sometimes");
  EXPECT_EQ(first(5), "always");
  EXPECT_TRUE(is_not_available(first(not_available("it takes no snapshot"))));
  EXPECT_EQ(
      sweep_verdict(row(3, counts(400, 0), counts(0, 600)))["sentence"],
      "the copy is done before the writers are in 3 of 5 runs; the kernel copies 400 pages until the copy is done "
      "and its child has ended, after it 0 copied and 600 reused.");
}

TEST(SweepVerdict, NamesRowsWhoseFaultsWereLost) {
  Json whole = row(5, counts(400, 0), counts(0, 600));
  whole["faults"]["lost"] = 0;
  Json sweep{{"rows", {whole}}};
  add_sweep_verdict(sweep);
  EXPECT_EQ(sweep["loss"], Json());
  Json incomplete = whole;
  incomplete.update({{"alternative", "fork"},
                     {"array_bytes", kMiB},
                     {"batch_bytes", 64 * kKiB},
                     {"writers", 1},
                     {"checkpointers", 4},
                     {"placement", "apart"}});
  incomplete["faults"]["lost"] = 12;
  sweep["rows"].push_back(incomplete);
  add_sweep_verdict(sweep);
  EXPECT_EQ(sweep["loss"],
            "Counts of faults are too low, because events came faster than they could be read: fork, 1 MiB in batches "
            "of 64 KiB, 1 writer, 4 checkpointers, apart (12 events lost). Measure a smaller array, or with fewer "
            "threads.");
}

TEST(SweepVerdict, OfAllRowsIsOneSentence) {
  Json failed = row(0, counts(0, 0), counts(0, 0));
  failed["status"] = "failed";
  failed["reason"] = "out of memory";
  Json sweep{{"rows", {row(5, counts(1, 0), counts(0, 0)), row(4, counts(1, 0), counts(900, 0)), failed}}};
  add_sweep_verdict(sweep);
  EXPECT_EQ(
      sweep["sentence"],
      "The copy is always done before the writers are in 1 of 2 rows; the kernel goes on copying after the child's "
      "end in 1.");
  EXPECT_EQ(sweep["rows"][2]["verdict"], not_available("out of memory"));
  Json empty{{"rows", {failed}}};
  add_sweep_verdict(empty);
  EXPECT_TRUE(is_not_available(empty["sentence"]));
}

}  // namespace
}  // namespace zerotax::snapshot
