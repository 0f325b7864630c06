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

TEST(KernelSections, InUserModeThereIsNone) { EXPECT_EQ(section_of(stack({})), ""); }

TEST(KernelSections, TheInnermostKnownFunctionDecides) {
  EXPECT_EQ(section_of(fault({"do_wp_page", "wp_page_copy", "copy_mc_user_highpage", "copy_mc_fragile"})), "copy");
  EXPECT_EQ(section_of(fault({"do_wp_page", "wp_page_copy", "vma_alloc_folio_noprof", "__alloc_frozen_pages_noprof",
                              "get_page_from_freelist"})),
            "allocate");
  EXPECT_EQ(section_of(fault({"do_wp_page", "wp_page_copy", "ptep_clear_flush", "flush_tlb_mm_range"})), "tlb");
  EXPECT_EQ(section_of(fault({"do_anonymous_page", "vma_alloc_folio_noprof", "clear_page_erms"})), "zero");
  EXPECT_EQ(section_of(fault({"handle_userfault", "schedule"})), "wait");
}

TEST(KernelSections, AWriteThatCopiesNothingIsTheRestOfAFault) {
  EXPECT_EQ(section_of(fault({"do_wp_page", "wp_page_reuse"})), "fault");
  EXPECT_EQ(section_of(fault({})), "fault");
}

TEST(KernelSections, WhatForkCopiesIsPageTables) {
  EXPECT_EQ(section_of(stack({"__do_sys_clone", "kernel_clone", "copy_process", "dup_mm", "copy_page_range"})), "fork");
  EXPECT_EQ(section_of(stack({"__do_sys_clone", "kernel_clone", "copy_process", "copy_page"})), "copy");
}

TEST(KernelSections, WhatIsNotKnownIsSaidToBe) {
  EXPECT_EQ(section_of(stack({"do_syscall_64", "ksys_write"})), "other");
}

TEST(KernelSections, EachSectionHasItsSummaryAndEveryStackOneOfThem) {
  for (const KernelSection& section : kernel_sections()) EXPECT_NE(std::string(section.summary), "");
}

SnapshotSample sample(std::uint64_t time_ns, pid_t pid, const Stack& of) { return {time_ns, pid, of}; }

SnapshotRun samples_of(std::vector<SnapshotSample> samples) {
  SnapshotRun run;
  run.status = "ok";
  run.hz = 1000;
  run.sees_kernel = true;
  run.figures = {{"pid", 7}, {"window_begin_ns", 100}, {"window_end_ns", 400}, {"gone_ns", 200}};
  run.samples = std::move(samples);
  return run;
}

TEST(CpuTime, IsOfTheParentInTheWindowBeforeAndAfterTheChildsEnd) {
  const Stack copying = fault({"copy_mc_fragile"});
  const Json json =
      cpu_json(samples_of({sample(99, 7, copying), sample(100, 7, copying), sample(150, 8, copying),
                           sample(199, 7, stack({})), sample(200, 7, fault({})), sample(401, 7, copying)}));
  EXPECT_EQ(json["before_end"]["samples"], 2);
  EXPECT_EQ(json["before_end"]["user_ns"], 1'000'000);
  EXPECT_EQ(json["before_end"]["kernel_ns"], 1'000'000);
  EXPECT_EQ(json["before_end"]["sections_ns"]["copy"], 1'000'000);
  EXPECT_EQ(json["after_end"]["samples"], 1);
  EXPECT_EQ(json["after_end"]["sections_ns"]["copy"], 0);
  EXPECT_EQ(json["after_end"]["sections_ns"]["fault"], 1'000'000);
}

TEST(CpuTime, OfAKernelThatIsNotSeenIsNotAvailable) {
  SnapshotRun run = samples_of({sample(150, 7, stack({}))});
  run.sees_kernel = false;
  const Json json = cpu_json(run);
  EXPECT_EQ(json["before_end"]["user_ns"], 1'000'000);
  EXPECT_TRUE(is_not_available(json["before_end"]["kernel_ns"]));
  EXPECT_TRUE(is_not_available(json["after_end"]["sections_ns"]));
}

}  // namespace
}  // namespace zerotax::snapshot
