#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string>

#include "os/page.h"
#include "os/processor.h"
#include "record/answer.h"
#include "record/outside/cpu_samples.h"
#include "record/outside/memory_access.h"
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
  data.counts.fills = 900;
  data.processes[10] = process_with(1'000, 100 * page_bytes(), 110 * page_bytes());
  return data;
}

TEST(OutsideKernel, RefilledIsWhatWasZeroedBeyondTheGrowthAtMost) {
  const OutsideKernel kernel = outside_kernel(counted());
  EXPECT_EQ(kernel.method, ZeroedBy::kCounted);
  EXPECT_EQ(kernel.part.zeroed, 900 * page_bytes());
  EXPECT_EQ(kernel.part.refilled, 790 * page_bytes());
  EXPECT_EQ((*kernel.refilled_interval)[1], 900 * page_bytes()) << "100 faults may have copied pages of files";
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
  EXPECT_EQ((*kernel.refilled_interval)[1], 900 * page_bytes());
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
  EXPECT_EQ(outside_kernel(data).part.refilled, 490 * page_bytes()) << "the process that populated them is unknown";
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

TEST(OutsideKernel, SharedMemoryLeavesTheTotalOpenAndIsBoundedByItsFaults) {
  OutsideData data = counted();
  data.counts = {1'000, 8, 0};
  data.counts.fills = 8;
  EXPECT_TRUE(outside_kernel(data).part.known());
  for (int i = 0; i < 100; ++i) data.faults.add(10);
  for (int i = 0; i < 97; ++i) data.shared.add(10);
  const OutsideKernel kernel = outside_kernel(data);
  EXPECT_FALSE(kernel.part.known());
  EXPECT_EQ(kernel.part.why_not, kSharedUnknown);
  EXPECT_GT(kernel.part.zeroed + kernel.part.unseen, 970 * page_bytes());
  EXPECT_EQ(kernel.part.slack, 992 * page_bytes())
      << "each fault that populated no known page may be a fault of this kind";
}

TEST(OutsideKernel, PagesThatASystemCallPopulatedInAChildAreFaultsThatNobodyLookedAt) {
  OutsideData data = counted();
  data.counts = {13, 900, 0};
  data.counts.fills = 900;
  data.processes[10] = process_with(13, 2 * page_bytes(), 2 * page_bytes());
  const OutsideKernel kernel = outside_kernel(data);
  EXPECT_EQ(kernel.part.minor_faults, 900U);
  EXPECT_EQ((*kernel.refilled_interval)[0], 11 * page_bytes());
}

TEST(OutsideKernel, WhatCopiedPagesOfFilesMayBeIsNoGrowthForCertain) {
  OutsideData data = counted();
  for (int i = 0; i < 100; ++i) data.faults.add(10);
  for (int i = 0; i < 5; ++i) data.copied.add(10);
  EXPECT_GE((*outside_kernel(data).refilled_interval)[1], (800 + 50) * page_bytes());
}

/// The data of an ordinary user, who has only samples. Of the faults in user mode, 80 % populated memory.
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

TEST(OutsideKernel, AFaultThatMayHaveReadIsNoZeroedPage) {
  OutsideData data = sampled();
  for (int i = 0; i < 20; ++i) data.unread.add(10);
  const OutsideKernel kernel = outside_kernel(data);
  EXPECT_EQ(kernel.part.zeroed, 784 * page_bytes());
  EXPECT_EQ(kernel.part.unseen, (196 + 20) * page_bytes());
  EXPECT_NE(kernel.part.why_not.find("read"), std::string::npos);
}

TEST(OutsideKernel, LostSamplesOfAMixtureAreOfAnUnknownKind) {
  OutsideData data = sampled();
  data.counts.minor_faults = 10'000;
  EXPECT_EQ(outside_kernel(data).part.zeroed, 8'000 * page_bytes()) << "no sample was lost";
  data.profile.lost = 700;
  const OutsideKernel kernel = outside_kernel(data);
  EXPECT_EQ(kernel.part.zeroed, 800 * page_bytes());
  EXPECT_EQ(kernel.part.unseen, 9'000 * page_bytes());
  EXPECT_GT((*kernel.zeroed_interval)[1], 9'800 * page_bytes());
  EXPECT_NE(kernel.part.why_not.find("lost"), std::string::npos);
  data.zero_fills = data.faults;
  EXPECT_EQ(outside_kernel(data).part.zeroed, 10'000 * page_bytes()) << "all samples are of one kind";
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

#if defined(__x86_64__)
/// Returns the access of an instruction with these bytes, followed by other bytes. String operations write to address
/// 4096.
Access access_by(std::initializer_list<unsigned char> bytes, std::uint64_t address = 0) {
  std::string code(bytes.begin(), bytes.end());
  code.resize(kMostCodeBytes, '\x90');
  Registers registers{};
  registers[kFirstArgument] = 4096;
  registers[kSecondArgument] = 1 << 20;
  return access_of(code, registers, address);
}

TEST(Access, OfAnInstructionIsThatOfItsOperandInMemory) {
  using enum Access;
  EXPECT_EQ(access_by({0x0f, 0xb6, 0x10}), kRead);                     // movzbl (%rax),%edx
  EXPECT_EQ(access_by({0x48, 0x8b, 0x04, 0x24}), kRead);               // mov (%rsp),%rax
  EXPECT_EQ(access_by({0x80, 0x3f, 0x00}), kRead);                     // cmpb $0,(%rdi)
  EXPECT_EQ(access_by({0xc5, 0xfe, 0x6f, 0x06}), kRead);               // vmovdqu (%rsi),%ymm0
  EXPECT_EQ(access_by({0x62, 0xe1, 0xfe, 0x28, 0x6f, 0x06}), kRead);   // vmovdqu64 (%rsi),%ymm16
  EXPECT_EQ(access_by({0xf3, 0x0f, 0x7e, 0x00}), kRead);               // movq (%rax),%xmm0
  EXPECT_EQ(access_by({0xc6, 0x00, 0x01}), kWrite);                    // movb $1,(%rax)
  EXPECT_EQ(access_by({0x80, 0x00, 0x01}), kWrite);                    // addb $1,(%rax)
  EXPECT_EQ(access_by({0xf0, 0x48, 0x0f, 0xb1, 0x16}), kWrite);        // lock cmpxchg %rdx,(%rsi)
  EXPECT_EQ(access_by({0x66, 0x0f, 0x7f, 0x00}), kWrite);              // movdqa %xmm0,(%rax)
  EXPECT_EQ(access_by({0x62, 0xe1, 0xfe, 0x28, 0x7f, 0x07}), kWrite);  // vmovdqu64 %ymm16,(%rdi)
  EXPECT_EQ(access_by({0xf3, 0x48, 0xab}), kWrite);                    // rep stos
  EXPECT_EQ(access_by({0xf3, 0xa4}, 4096 + 8), kWrite);                // rep movsb, address of its destination
  EXPECT_EQ(access_by({0xf3, 0xa4}, (1 << 20) - 8), kRead);            // rep movsb, address of its source
  EXPECT_EQ(access_by({0xf3, 0xa4}, 1 << 16), kUnknown);               // rep movsb, another address
  EXPECT_EQ(access_by({0xff, 0x30}), kUnknown);                        // push (%rax)
  EXPECT_EQ(access_by({0x89, 0xc0}), kUnknown);                        // mov %eax,%eax
  EXPECT_EQ(access_of(std::string("\xc6\x00\x01", 3), {}, 0), kUnknown) << "the code is incomplete";
}
#elif defined(__aarch64__)
Access access_by(std::uint32_t word) {
  std::string code(kMostCodeBytes, '\0');
  std::memcpy(code.data(), &word, sizeof word);
  return access_of(code, {}, 0);
}

TEST(Access, OfAnInstructionIsThatOfItsOperandInMemory) {
  using enum Access;
  EXPECT_EQ(access_by(0x39400001), kRead);     // ldrb w1, [x0]
  EXPECT_EQ(access_by(0xa9400820), kRead);     // ldp x0, x2, [x1]
  EXPECT_EQ(access_by(0x3dc00020), kRead);     // ldr q0, [x1]
  EXPECT_EQ(access_by(0xc85ffc01), kRead);     // ldaxr x1, [x0]
  EXPECT_EQ(access_by(0x39000001), kWrite);    // strb w1, [x0]
  EXPECT_EQ(access_by(0xad000400), kWrite);    // stp q0, q1, [x0]
  EXPECT_EQ(access_by(0x3d800020), kWrite);    // str q0, [x1]
  EXPECT_EQ(access_by(0x4c007000), kWrite);    // st1 {v0.16b}, [x0]
  EXPECT_EQ(access_by(0xc8e17c02), kWrite);    // casa x1, x2, [x0]
  EXPECT_EQ(access_by(0xf8210002), kWrite);    // ldadd x1, x2, [x0]
  EXPECT_EQ(access_by(0xd50b7423), kWrite);    // dc zva, x3
  EXPECT_EQ(access_by(0x8b020020), kUnknown);  // add x0, x1, x2
}
#endif

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
      << "a page for the kernel itself is not a fault of the program";
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

/// The record of a process that was watched for ten seconds, with `samples` samples of CPU time. Of these samples,
/// `zeros` hit stores of zeros.
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
    EXPECT_FALSE(record.tax.share_of_cpu) << "the answer does not depend on the functions that samples hit";
    EXPECT_EQ(next_step(record), "");
  }
  EXPECT_NE(watched(0, 0).tax.advice.find("too few samples: 0 "), std::string::npos);
}

TEST(OutsideResult, HasAVerdictWhereSamplesAreEnough) {
  EXPECT_TRUE(watched(1'000, 200).tax.share_of_cpu);
  EXPECT_NE(watched(1'000, 0).tax.advice.find("Nothing to gain"), std::string::npos) << watched(1'000, 0).tax.advice;
  EXPECT_NE(watched(100, 0).tax.advice.find("No verdict"), std::string::npos)
      << "a cause of up to 4 % of the time may have been missed";
}

}  // namespace
}  // namespace zerotax::record
