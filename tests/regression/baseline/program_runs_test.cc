#include <gtest/gtest.h>

#include "base/error.h"
#include "baseline/program.h"
#include "programs_testing.h"

namespace zerotax::baseline {
namespace {

using enum runs::Metric;

TEST(Slack, IsAFiftiethOfTheHighestValueOrTheSpreadOrAFewPages) {
  EXPECT_EQ(slack_of(row_of(kMinorFaults), {0, 0}), 16U);
  EXPECT_EQ(slack_of(row_of(kKernelZeroed), {0, 0}), 65'536U);
  EXPECT_EQ(slack_of(row_of(kMinorFaults), {10'000, 10'000}), 200U);
  EXPECT_EQ(slack_of(row_of(kForks), {4, 6}), 2U);
  EXPECT_EQ(slack_of(row_of(kMinorFaults), {10'000, 11'000}), 1000U);
  EXPECT_EQ(least_slack(Unit::kCount, {10'000, 11'000}), 220U);
}

TEST(Gather, StopsAfterThreeRunsThatAreAlike) {
  Program program;
  gather(program, runner_of({run_with()}), 10);
  EXPECT_EQ(program.runs, 3U);
  EXPECT_EQ(*program.metrics[kMinorFaults], (Range{1000, 1000}));
}

TEST(Gather, RunsACommandThatVariesAsOftenAsItMay) {
  Program program;
  gather(program,
         runner_of({run_with(), run_with({{kMinorFaults, 1100}}), run_with({{kMinorFaults, 900}}), run_with()}), 10);
  EXPECT_EQ(program.runs, 10U);
  EXPECT_EQ(*program.metrics[kMinorFaults], (Range{900, 1100}));
}

TEST(Gather, EndsAtTheLimitWhateverComes) {
  Program program;
  std::uint64_t faults = 1000;
  gather(
      program,
      [&] {
        return run_with({{kMinorFaults, faults *= 2}});
      },
      4);
  EXPECT_EQ(program.runs, 4U);
}

TEST(Gather, RefusesACommandThatEndsOtherwise) {
  Program program;
  runs::CommandRun failed = run_with();
  failed.exit_status = 1;
  EXPECT_THROW(gather(program, runner_of({run_with(), failed}), 10), UsageError);
}

TEST(Gather, WhatOneRunDoesNotKnowIsNotAvailable) {
  runs::CommandRun unknown = run_with();
  unknown.all[kRedundant] = NotAvailable{"only small stores"};
  const Program program = program_of({run_with(), unknown, run_with()});
  EXPECT_EQ(program.metrics[kRedundant].why(), "only small stores");
}

TEST(Gather, AProcessOrPlaceThatOnlySomeRunsHaveBeginsAtNothing) {
  runs::CommandRun more = run_with();
  more.processes["helper"] = more.all;
  add_site(more, record::SiteKind::kFree, {"reset (decoder.cc)"}, runs::SiteNumber::kReturned, 3, 300'000);
  const Program program = program_of({run_with(), more});
  EXPECT_EQ(*program.processes.at("helper")[kMinorFaults], (Range{0, 1000}));
  EXPECT_EQ(program.sites.begin()->second.numbers[runs::SiteNumber::kReturned], (Range{0, 300'000}));
}

TEST(Judge, RunsOnceWhatIsAsItWas) {
  const Judged judged = judge(program_of({run_with()}), runner_of({run_with({{kMinorFaults, 1016}})}));
  EXPECT_EQ(judged.runs, 1U);
  EXPECT_TRUE(judged.changes.empty());
}

TEST(Judge, IsAChangeOnlyIfItLastsOnTheSameSide) {
  const Program before = program_of({run_with()});
  const Judged lasting = judge(before, runner_of({run_with({{kMinorFaults, 5000}}), run_with({{kMinorFaults, 4000}}),
                                                  run_with({{kMinorFaults, 4500}})}));
  ASSERT_EQ(lasting.changes.size(), 1U);
  EXPECT_EQ(lasting.runs, 3U);
  EXPECT_EQ(lasting.changes[0].after, 4000U);
  EXPECT_EQ(lasting.changes[0].direction, Direction::kWorse);
  for (const std::uint64_t other : {1000U, 10U}) {
    const Judged gone = judge(before, runner_of({run_with({{kMinorFaults, 5000}}), run_with({{kMinorFaults, other}})}));
    EXPECT_TRUE(gone.changes.empty());
    ASSERT_EQ(gone.not_compared.size(), 1U);
    EXPECT_EQ(gone.not_compared[0].why, "not the same each time");
  }
}

TEST(Judge, LooksTwiceMoreAtWhatVariedInTheBaseline) {
  const Program before = program_of({run_with({{kMinorFaults, 1000}}), run_with({{kMinorFaults, 2000}})});
  const runs::CommandRun outside = run_with({{kMinorFaults, 5000}});
  EXPECT_EQ(judge(before, runner_of({outside})).runs, 5U);
  EXPECT_TRUE(judge(before, runner_of({outside, outside, outside, outside, run_with()})).changes.empty());
}

TEST(Judge, IsWithinTheSpreadThatWasSeen) {
  const Program before = program_of({run_with({{kMinorFaults, 1000}}), run_with({{kMinorFaults, 2000}})});
  EXPECT_TRUE(judge(before, runner_of({run_with({{kMinorFaults, 3000}})})).changes.empty());
  EXPECT_EQ(judge(before, runner_of({run_with({{kMinorFaults, 3001}})})).changes.size(), 1U);
}

TEST(Judge, NamesAProcessOnlyWhereThereAreSeveral) {
  runs::CommandRun more = run_with();
  more.processes["helper"] = more.all;
  EXPECT_TRUE(judge(program_of({run_with()}), runner_of({run_with()})).changes.empty());
  const Judged judged = judge(program_of({run_with()}), runner_of({more}));
  ASSERT_FALSE(judged.changes.empty());
  EXPECT_EQ(judged.changes[0].process, "helper");
}

TEST(Judge, AMetricThatIsNotAvailableNowIsNoChange) {
  runs::CommandRun unknown = run_with();
  unknown.all[kRedundant] = NotAvailable{"only small stores"};
  const Judged judged = judge(program_of({run_with()}), runner_of({unknown}));
  EXPECT_TRUE(judged.changes.empty());
  EXPECT_EQ(judged.not_compared.at(0).why, "only small stores");
}

TEST(Compare, IsOfTheNearestValuesOfTwoRanges) {
  const Program before = program_of({run_with({{kMinorFaults, 1000}}), run_with({{kMinorFaults, 1100}})});
  // 1,200 is beyond the earlier range by the width of this range.
  EXPECT_TRUE(compare(before, program_of({run_with({{kMinorFaults, 1200}}), run_with({{kMinorFaults, 9000}})}))
                  .changes.empty());
  const Judged worse =
      compare(before, program_of({run_with({{kMinorFaults, 1201}}), run_with({{kMinorFaults, 9000}})}));
  ASSERT_EQ(worse.changes.size(), 1U);
  EXPECT_EQ(worse.changes[0].after, 1201U);
  EXPECT_EQ(worse.changes[0].direction, Direction::kWorse);
  const Judged better = compare(before, program_of({run_with({{kMinorFaults, 10}}), run_with({{kMinorFaults, 899}})}));
  ASSERT_EQ(better.changes.size(), 1U);
  EXPECT_EQ(better.changes[0].after, 899U);
}

TEST(Compare, CountsAProcessThatOnlyOneHas) {
  runs::CommandRun more = run_with();
  more.processes["helper"] = more.all;
  const Judged judged = compare(program_of({more}), program_of({run_with()}));
  ASSERT_FALSE(judged.changes.empty());
  EXPECT_EQ(judged.changes[0].process, "helper");
  EXPECT_EQ(judged.changes[0].after, 0U);
  EXPECT_TRUE(compare(program_of({more}), program_of({more, more})).changes.empty());
}

TEST(Verdict, WhatOnlySaysHowCountsAlone) {
  const auto verdict = [](std::initializer_list<Direction> directions) {
    std::vector<ProgramChange> changes;
    for (const Direction direction : directions) changes.push_back({"", kMinorFaults, direction, {}, 1, {}});
    return verdict_of(changes);
  };
  EXPECT_EQ(verdict({}), Verdict::kSame);
  EXPECT_EQ(verdict({Direction::kNeither}), Verdict::kChanged);
  EXPECT_EQ(verdict({Direction::kNeither, Direction::kWorse}), Verdict::kWorse);
  EXPECT_EQ(verdict({Direction::kBetter, Direction::kNeither}), Verdict::kBetter);
  EXPECT_EQ(verdict({Direction::kBetter, Direction::kWorse}), Verdict::kMixed);
}

}  // namespace
}  // namespace zerotax::baseline
