#include <gtest/gtest.h>

#include "observe/kernel_symbols.h"

namespace zerotax {
namespace {

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

TEST(KernelFunctions, InUserModeThereIsNone) { EXPECT_FALSE(kernel_work_of(stack({}))); }

TEST(KernelFunctions, TheInnermostKnownFunctionDecides) {
  EXPECT_EQ(kernel_work_of(fault({"do_wp_page", "wp_page_copy", "copy_mc_user_highpage", "copy_mc_fragile"})),
            kCopyWork);
  EXPECT_EQ(kernel_work_of(fault({"do_wp_page", "wp_page_copy", "vma_alloc_folio_noprof", "__alloc_frozen_pages_noprof",
                                  "get_page_from_freelist"})),
            kAllocateWork);
  EXPECT_EQ(kernel_work_of(fault({"do_wp_page", "wp_page_copy", "ptep_clear_flush", "flush_tlb_mm_range"})), kTlbWork);
  EXPECT_EQ(kernel_work_of(fault({"do_anonymous_page", "vma_alloc_folio_noprof", "clear_page_erms"})), kZeroWork);
  EXPECT_EQ(kernel_work_of(fault({"handle_userfault", "schedule"})), kWaitWork);
}

TEST(KernelFunctions, AWriteThatCopiesNothingIsTheRestOfAFault) {
  EXPECT_EQ(kernel_work_of(fault({"do_wp_page", "wp_page_reuse"})), kFaultWork);
  EXPECT_EQ(kernel_work_of(fault({})), kFaultWork);
}

TEST(KernelFunctions, WhatForkCopiesIsPageTables) {
  EXPECT_EQ(kernel_work_of(stack({"__do_sys_clone", "kernel_clone", "copy_process", "dup_mm", "copy_page_range"})),
            kForkWork);
  EXPECT_EQ(kernel_work_of(stack({"__do_sys_clone", "kernel_clone", "copy_process", "copy_page"})), kCopyWork);
}

TEST(KernelFunctions, WhatIsNotKnownIsSaidToBe) {
  EXPECT_EQ(kernel_work_of(stack({"do_syscall_64", "ksys_write"})), kOtherWork);
}

TEST(KernelFunctions, EachWorkHasASummary) {
  EXPECT_EQ(kernel_works().size(), kKernelWorks);
  for (const KernelWorkRow& work : kernel_works()) EXPECT_NE(std::string(work.summary), "");
}

}  // namespace
}  // namespace zerotax
