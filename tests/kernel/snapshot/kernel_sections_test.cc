#include "snapshot/kernel_sections.h"

#include <gtest/gtest.h>

namespace zerotax::snapshot {
namespace {

/// A stack of the program with these kernel functions on top, outermost first.
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

TEST(KernelSections, InUserModeThereIsNone) { EXPECT_EQ(section_of(stack({})), nullptr); }

TEST(KernelSections, TheInnermostKnownFunctionDecides) {
  EXPECT_EQ(section_of(fault({"do_wp_page", "wp_page_copy", "copy_mc_user_highpage", "copy_mc_fragile"})),
            &Sections::copy);
  EXPECT_EQ(section_of(fault({"do_wp_page", "wp_page_copy", "vma_alloc_folio_noprof", "__alloc_frozen_pages_noprof",
                              "get_page_from_freelist"})),
            &Sections::allocate);
  EXPECT_EQ(section_of(fault({"do_wp_page", "wp_page_copy", "ptep_clear_flush", "flush_tlb_mm_range"})),
            &Sections::tlb);
  EXPECT_EQ(section_of(fault({"do_anonymous_page", "vma_alloc_folio_noprof", "clear_page_erms"})), &Sections::zero);
  EXPECT_EQ(section_of(fault({"handle_userfault", "schedule"})), &Sections::wait);
}

TEST(KernelSections, AWriteThatCopiesNothingIsTheRestOfAFault) {
  EXPECT_EQ(section_of(fault({"do_wp_page", "wp_page_reuse"})), &Sections::fault);
  EXPECT_EQ(section_of(fault({})), &Sections::fault);
}

TEST(KernelSections, WhatForkCopiesIsPageTables) {
  EXPECT_EQ(section_of(stack({"__do_sys_clone", "kernel_clone", "copy_process", "dup_mm", "copy_page_range"})),
            &Sections::fork);
  EXPECT_EQ(section_of(stack({"__do_sys_clone", "kernel_clone", "copy_process", "copy_page"})), &Sections::copy);
}

TEST(KernelSections, WhatIsNotKnownIsSaidToBe) {
  EXPECT_EQ(section_of(stack({"do_syscall_64", "ksys_write"})), &Sections::other);
}

TEST(KernelSections, EachSectionHasItsSummaryAndEveryStackOneOfThem) {
  for (const KernelSection& section : kernel_sections()) EXPECT_NE(std::string(section.summary), "");
}

SnapshotSample sample(std::uint64_t time_ns, pid_t pid, const Stack& of) { return {time_ns, pid, of}; }

SnapshotRun samples_of(std::vector<SnapshotSample> samples) {
  SnapshotRun run;
  run.status = Status::kOk;
  run.hz = 1000;
  run.sees_kernel = true;
  run.figures = {{"pid", 7}, {"window_begin_ns", 100}, {"window_end_ns", 400}, {"gone_ns", 200}};
  run.samples = std::move(samples);
  return run;
}

TEST(CpuTime, IsOfTheParentInTheWindowBeforeAndAfterTheChildsEnd) {
  const Stack copying = fault({"copy_mc_fragile"});
  const Cpu cpu = *cpu_of(samples_of({sample(99, 7, copying), sample(100, 7, copying), sample(150, 8, copying),
                                      sample(199, 7, stack({})), sample(200, 7, fault({})), sample(401, 7, copying)}));
  EXPECT_EQ(cpu.before_end.samples, 2U);
  EXPECT_EQ(cpu.before_end.user_ns, 1'000'000U);
  EXPECT_EQ(*cpu.before_end.kernel_ns, 1'000'000U);
  EXPECT_EQ(cpu.before_end.sections_ns->copy, 1'000'000U);
  EXPECT_EQ(cpu.after_end.samples, 1U);
  EXPECT_EQ(cpu.after_end.sections_ns->copy, 0U);
  EXPECT_EQ(cpu.after_end.sections_ns->fault, 1'000'000U);
}

TEST(CpuTime, OfAKernelThatIsNotSeenIsNotAvailable) {
  SnapshotRun run = samples_of({sample(150, 7, stack({}))});
  run.sees_kernel = false;
  const Cpu cpu = *cpu_of(run);
  EXPECT_EQ(cpu.before_end.user_ns, 1'000'000U);
  EXPECT_FALSE(cpu.before_end.kernel_ns);
  EXPECT_FALSE(cpu.after_end.sections_ns);
}

}  // namespace
}  // namespace zerotax::snapshot
