#include <gtest/gtest.h>

#include "snapshot/table.h"

namespace zerotax::snapshot {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// A run that uses two CPUs in the kernel for 10 ms, and then one CPU in user mode for 10 ms. The run's child uses one
/// CPU in the first half.
SnapshotRun run_of_20_ms() {
  SnapshotRun run;
  run.status = Status::kOk;
  run.metrics.child = 9;
  run.metrics.begin_ns = run.metrics.stopped_ns = 100;
  run.metrics.gone_ns = 100 + 10 * kMillisecond;
  run.metrics.end_ns = 100 + 20 * kMillisecond;
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

/// A stack of the program with these kernel functions on top. The outermost function is first.
Stack stack(const std::vector<std::string>& kernel) {
  Stack made{{"fork-snapshot", ""}, {"write_page", "fork-snapshot"}};
  for (const std::string& function : kernel) made.push_back({function, "kernel"});
  return made;
}

Stack fault(std::vector<std::string> inner) {
  std::vector<std::string> all{"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "handle_mm_fault"};
  all.insert(all.end(), inner.begin(), inner.end());
  return stack(all);
}

SnapshotSample sample(std::uint64_t time_ns, pid_t pid, const Stack& of) { return {time_ns, pid, of}; }

SnapshotRun samples_of(std::vector<SnapshotSample> samples) {
  SnapshotRun run;
  run.status = Status::kOk;
  run.hz = 1000;
  run.sees_kernel = true;
  run.metrics.pid = 7;
  run.metrics.window_begin_ns = 100;
  run.metrics.window_end_ns = 400;
  run.metrics.gone_ns = 200;
  run.samples = std::move(samples);
  return run;
}

TEST(CpuSamples, IsOfTheParentInTheWindowBeforeAndAfterTheChildsEnd) {
  const Stack copying = fault({"copy_mc_fragile"});
  const Cpu cpu = *cpu_of(samples_of({sample(99, 7, copying), sample(100, 7, copying), sample(150, 8, copying),
                                      sample(199, 7, stack({})), sample(200, 7, fault({})), sample(401, 7, copying)}));
  EXPECT_EQ(cpu.before_end.samples, 2U);
  EXPECT_EQ(cpu.before_end.user_ns, 1'000'000U);
  EXPECT_EQ(*cpu.before_end.kernel_ns, 1'000'000U);
  EXPECT_EQ(cpu.before_end.sections_ns->at(kCopyWork), 1'000'000U);
  EXPECT_EQ(cpu.after_end.samples, 1U);
  EXPECT_EQ(cpu.after_end.sections_ns->at(kCopyWork), 0U);
  EXPECT_EQ(cpu.after_end.sections_ns->at(kFaultWork), 1'000'000U);
}

TEST(CpuSamples, OfAKernelThatIsNotSeenIsNotAvailable) {
  SnapshotRun run = samples_of({sample(150, 7, stack({}))});
  run.sees_kernel = false;
  const Cpu cpu = *cpu_of(run);
  EXPECT_EQ(cpu.before_end.user_ns, 1'000'000U);
  EXPECT_FALSE(cpu.before_end.kernel_ns);
  EXPECT_FALSE(cpu.after_end.sections_ns);
}

}  // namespace
}  // namespace zerotax::snapshot
