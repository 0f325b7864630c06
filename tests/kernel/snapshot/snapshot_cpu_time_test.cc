#include <gtest/gtest.h>

#include "snapshot/cpu_time.h"

namespace zerotax::snapshot {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// Two CPUs in the kernel for 10 ms, then one in user mode for 10 ms; a child that uses one CPU in the first half.
SnapshotRun run_of_20_ms() {
  SnapshotRun run;
  run.status = Status::kOk;
  run.figures = {{"child", 9},
                 {"begin_ns", 100},
                 {"stopped_ns", 100},
                 {"gone_ns", 100 + 10 * kMillisecond},
                 {"end_ns", 100 + 20 * kMillisecond}};
  run.cpu_time = {{100, 50, 60, 0, 0},
                  {100 + 10 * kMillisecond, 50, 60 + 20 * kMillisecond, 10 * kMillisecond, 0},
                  {100 + 20 * kMillisecond, 50 + 10 * kMillisecond, 60 + 20 * kMillisecond, 10 * kMillisecond, 0}};
  return run;
}

TEST(CpuTimeOverTime, IsWhatWasUsedBetweenTwoSamples) {
  const CpuTime found = *cpu_time_of(run_of_20_ms());
  EXPECT_EQ(found.child_end_ns, 10 * kMillisecond);
  EXPECT_EQ(found.writers_end_ns, 20 * kMillisecond);
  ASSERT_EQ(found.intervals.size(), 2U);
  EXPECT_EQ(found.intervals[0].system_ns, 20 * kMillisecond);
  EXPECT_EQ(found.intervals[0].user_ns, 0);
  EXPECT_EQ(found.intervals[0].child_user_ns, 10 * kMillisecond);
  EXPECT_EQ(found.intervals[1].user_ns, 10 * kMillisecond);
  EXPECT_EQ(found.intervals[1].end_ns, 20 * kMillisecond);
}

TEST(CpuTimeOverTime, OfOneSampleIsNotAvailable) {
  SnapshotRun run = run_of_20_ms();
  run.cpu_time.resize(1);
  EXPECT_FALSE(cpu_time_of(run));
  EXPECT_EQ(cpu_time_plot("x", cpu_time_of(run), {}), "");
}

TEST(CpuTimePlot, StacksKernelBelowUserModeInCpus) {
  const std::string plot = cpu_time_plot("fork", cpu_time_of(run_of_20_ms()), {29, false});
  EXPECT_EQ(plot,
            "fork: CPU time in 20.0 ms\n"
            "200 %  |##########\n"
            "       |##########\n"
            "       |##########\n"
            "       |##########\n"
            "       |##########..........\n"
            "       |##########..........\n"
            "       |##########..........\n"
            "0 %    |##########..........\n"
            "        S         E        W\n"
            "its child\n"
            "100 %  |..........\n"
            "       |..........\n"
            "       |..........\n"
            "       |..........\n"
            "       |..........\n"
            "       |..........\n"
            "       |..........\n"
            "0 %    |..........\n"
            "        S         E        W\n"
            "# kernel, . user mode; S snapshot, E the child's end, W the writers' end\n");
}

}  // namespace
}  // namespace zerotax::snapshot
