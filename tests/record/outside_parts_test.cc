#include <gtest/gtest.h>

#include "os/page.h"
#include "os/processor.h"
#include "record/outside/cpu_samples.h"
#include "record/outside/functions.h"
#include "record/outside/kernel.h"
#include "record/outside/result.h"

namespace zerotax::record {
namespace {

HeldProcess process_with(std::uint64_t faults, std::uint64_t grown, std::uint64_t grown_at_most) {
  HeldProcess process;
  process.pid = 10;
  process.faults = faults;
  process.looked_faults = faults;
  process.grown = grown;
  process.grown_at_most = grown_at_most;
  process.held = grown;
  process.peak = grown;
  return process;
}

/// 1,000 faults, of which 900 zeroed a page.
OutsideData counted() {
  OutsideData data;
  data.counts = {1'000, 900, 0};
  data.processes[10] = process_with(1'000, 100 * page_bytes(), 110 * page_bytes());
  return data;
}

TEST(OutsideKernel, RefilledIsWhatWasZeroedBeyondTheGrowthAtMost) {
  const OutsideKernel kernel = outside_kernel(counted());
  EXPECT_EQ(kernel.method, ZeroedBy::kCounted);
  EXPECT_EQ(kernel.part.zeroed, 900 * page_bytes());
  EXPECT_EQ(kernel.part.refilled, 790 * page_bytes());
  EXPECT_EQ((*kernel.refilled_interval)[1], 800 * page_bytes());
  EXPECT_EQ(kernel.part.returned, 800 * page_bytes());
  EXPECT_TRUE(kernel.part.known());
}

TEST(OutsideKernel, WhatNobodyLookedAtCountsAsGrowth) {
  OutsideData data = counted();
  data.processes[10].faults = 700;
  data.processes[10].looked_faults = 700;
  const OutsideKernel kernel = outside_kernel(data);
  EXPECT_EQ(kernel.unseen_faults, 300U);
  EXPECT_EQ(kernel.part.refilled, 490 * page_bytes());
  EXPECT_EQ((*kernel.refilled_interval)[1], 800 * page_bytes());
}

TEST(OutsideKernel, AfterTheLastLookAProcessGrowsAsItDidBefore) {
  OutsideData data = counted();
  data.pid = 10;
  data.processes[10].faults = 700;
  data.processes[10].looked_faults = 700;
  data.processes[10].growing = 0;
  EXPECT_EQ(outside_kernel(data).part.refilled, 790 * page_bytes());
  data.processes[10].growing = 0.5;
  EXPECT_EQ(outside_kernel(data).part.refilled, 640 * page_bytes());
  EXPECT_EQ((*outside_kernel(data).refilled_interval)[0], 490 * page_bytes());
  data.processes[11] = process_with(0, 0, 0);
  EXPECT_EQ(outside_kernel(data).part.refilled, 490 * page_bytes()) << "whose they were is not known";
}

TEST(OutsideKernel, FaultsOfTheChildBeforeItsExecAreNotTheProgramsOwn) {
  OutsideData data = counted();
  data.counts.minor_faults = std::nullopt;
  data.processes[10].faults = 1'150;
  data.faults_before_exec = 150;
  data.run = ForegroundResult{};
  data.run->minor_faults = 1'170;
  EXPECT_EQ(outside_kernel(data).part.minor_faults, 1'020U);
}

TEST(OutsideKernel, AHugePageIsTwoMebibytes) {
  OutsideData data = counted();
  data.counts.zeroed_huge_pages = 3;
  EXPECT_EQ(outside_kernel(data).part.huge, 3 * huge_page_bytes());
  EXPECT_EQ(outside_kernel(data).part.zeroed, 3 * huge_page_bytes() + 900 * page_bytes());
}

/// An ordinary user has samples: 80 % of faults in user mode populated memory.
OutsideData sampled() {
  OutsideData data = counted();
  data.counts = {980, std::nullopt, std::nullopt};
  for (int i = 0; i < 100; ++i) data.faults.add(10);
  for (int i = 0; i < 80; ++i) data.zero_fills.add(10);
  return data;
}

TEST(OutsideKernel, SamplesDivideTheFaultsOfUserMode) {
  const OutsideKernel kernel = outside_kernel(sampled());
  EXPECT_EQ(kernel.method, ZeroedBy::kSampled);
  EXPECT_EQ(kernel.part.zeroed, 784 * page_bytes());
  EXPECT_EQ(kernel.part.unseen, 20 * page_bytes());
  ASSERT_TRUE(kernel.zeroed_interval);
  EXPECT_LT((*kernel.zeroed_interval)[0], kernel.part.zeroed);
  EXPECT_GT((*kernel.zeroed_interval)[1], kernel.part.zeroed);
  EXPECT_FALSE(kernel.part.known()) << "20 pages of 804 are more than a fiftieth";
}

TEST(OutsideKernel, AfterAForkAFaultMayCopyAPage) {
  OutsideData data = sampled();
  for (int i = 0; i < 10; ++i) data.unsure.add(10);
  const OutsideKernel kernel = outside_kernel(data);
  EXPECT_EQ(kernel.part.unseen, (98 + 20) * page_bytes());
  EXPECT_NE(kernel.part.why_not.find("fork"), std::string::npos);
}

TEST(OutsideKernel, WithoutSamplesThereAreBounds) {
  OutsideData data = sampled();
  data.faults = {};
  data.denied = "the kernel does not permit sampling; run zerotax as root";
  const OutsideKernel kernel = outside_kernel(data);
  EXPECT_EQ(kernel.part.zeroed, 100 * page_bytes());
  EXPECT_EQ(kernel.part.unseen, 900 * page_bytes());
  EXPECT_EQ(kernel.part.why_not, "the kernel does not permit sampling");
  EXPECT_FALSE(kernel.part.known());
}

TEST(SampledFaults, FewSamplesThatStandForManyTellLittle) {
  SampledFaults faults;
  for (int i = 0; i < 100; ++i) faults.add(1);
  EXPECT_DOUBLE_EQ(faults.effective(), 100);
  faults.add(10'000);
  EXPECT_LT(faults.effective(), 1.1);
}

TEST(Functions, ThatStoreZerosAreKnownByName) {
  EXPECT_EQ(filling_of("runtime.memclrNoHeapPointers"), Filling::kZeros);
  EXPECT_EQ(filling_of("explicit_bzero"), Filling::kZeros);
  EXPECT_EQ(filling_of("__memset_avx2_unaligned_erms"), Filling::kByValue);
  EXPECT_EQ(filling_of("compiler_builtins::mem::memset"), Filling::kByValue);
  EXPECT_EQ(filling_of("memcpy"), Filling::kNone);
  EXPECT_TRUE(works_for_caller("__memmove_avx_unaligned_erms"));
  EXPECT_FALSE(works_for_caller("refill_here"));
}

Stack kernel_stack(std::initializer_list<const char*> functions) {
  Stack stack{{"program", ""}, {"main", "program"}};
  for (const char* function : functions) stack.push_back({function, "kernel"});
  return stack;
}

TEST(Functions, OfTheKernelSayWhatItDoes) {
  EXPECT_EQ(kernel_work(kernel_stack({"asm_exc_page_fault", "handle_mm_fault", "clear_page_erms"})),
            KernelWork::kClearing);
  EXPECT_EQ(kernel_work(kernel_stack({"asm_exc_page_fault", "handle_mm_fault"})), KernelWork::kFault);
  EXPECT_EQ(kernel_work(kernel_stack({"do_syscall_64", "__x64_sys_munmap", "unmap_region"})), KernelWork::kReturning);
  EXPECT_EQ(kernel_work(kernel_stack({"do_syscall_64", "ksys_read"})), KernelWork::kOther);
  EXPECT_EQ(kernel_work(kernel_stack({"do_syscall_64", "clear_page_erms"})), KernelWork::kOther)
      << "a page for the kernel itself is no fault of the program";
}

PerfEvent user_sample(std::uint64_t second_argument) {
  PerfEvent event;
  event.has_user = true;
  event.registers[kSecondArgument] = second_argument;
  return event;
}

TEST(CpuSamples, AMemsetOfAnotherByteStoresNoZeros) {
  const Stack stack{{"program", ""}, {"main", "program"}, {"memset", "program"}};
  CpuSamples samples;
  samples.add(user_sample(0), stack);
  samples.add(user_sample(7), stack);
  samples.add(user_sample(0xffff00000000ff00), stack);
  EXPECT_EQ(samples.zeros, 1U);
  EXPECT_EQ(samples.unknown_fill, 1U);
  EXPECT_EQ(samples.user, 3U);
}

TEST(SampledTime, HasAnIntervalAroundItsShare) {
  const auto time = sampled_time(25, 100, 1'000);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->ns, 250U);
  EXPECT_LT(time->interval_ns[0], 250U);
  EXPECT_GT(time->interval_ns[1], 250U);
  EXPECT_FALSE(sampled_time(0, 0, 1'000));
}

/// A process, watched for ten seconds, with this many samples of CPU time, `zeros` of them in stores of zeros.
Record watched(std::uint64_t samples, std::uint64_t zeros) {
  OutsideData data = counted();
  data.watched = Watched::kProcess;
  data.pid = 4'194'304;
  data.command = {"quiet"};
  data.wall_ns = 10'000'000'000;
  data.user_ns = static_cast<std::int64_t>(samples * 10'000'000);
  data.profile.sees_kernel = data.profile.knows_kernel_names = true;
  data.cpu.all = data.cpu.user = samples;
  data.cpu.zeros = zeros;
  return outside_result(data, "it ran already", "");
}

TEST(OutsideResult, SaysHowLongToWatchWhereSamplesAreTooFew) {
  for (const std::uint64_t zeros : {0, 1, 5}) {
    const Record record = watched(5, zeros);
    EXPECT_EQ(record.tax.advice.find("No verdict: too few samples: 5 "), 0U) << record.tax.advice;
    EXPECT_NE(record.tax.advice.find("watch for about 200 s"), std::string::npos) << record.tax.advice;
    EXPECT_FALSE(record.tax.share_of_cpu) << "the same answer, whatever the samples hit";
    EXPECT_EQ(next_step(record), "");
  }
  EXPECT_NE(watched(0, 0).tax.advice.find("too few samples: 0 "), std::string::npos);
}

TEST(OutsideResult, HasAVerdictWhereSamplesAreEnough) {
  EXPECT_TRUE(watched(1'000, 200).tax.share_of_cpu);
  EXPECT_NE(watched(1'000, 0).tax.advice.find("Nothing to gain"), std::string::npos) << watched(1'000, 0).tax.advice;
  EXPECT_NE(watched(100, 0).tax.advice.find("No verdict"), std::string::npos) << "up to 4 % may have gone unseen";
}

}  // namespace
}  // namespace zerotax::record
