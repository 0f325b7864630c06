#include "snapshot/kernel_sections.h"

#include <algorithm>
#include <string_view>

namespace zerotax::snapshot {
namespace {

/// copy_page_range is part of fork and copies no page; functions of similar names copy for system calls.
constexpr std::string_view kForkCopies[] = {"copy_page_range", "copy_pte_range", "copy_p4d_range"};

/// Null if it belongs to none.
Section section_of(std::string_view function) {
  for (const std::string_view name : kForkCopies) {
    if (function.starts_with(name)) return &Sections::fork;
  }
  if (function == "copy_page" || function == "copy_page_regs") return &Sections::copy;
  for (const KernelSection& section : kernel_sections()) {
    const auto& prefixes = section.prefixes;
    if (std::any_of(prefixes.begin(), prefixes.end(), [&](const char* each) { return function.starts_with(each); })) {
      return section.section;
    }
  }
  return nullptr;
}

/// Samples of one part of the time.
CpuPart part_of(const std::vector<const Stack*>& stacks, const SnapshotRun& run) {
  const auto ns = [&](std::uint64_t samples) { return samples * 1'000'000'000 / run.hz; };
  Sections sections;
  std::uint64_t user = 0;
  for (const Stack* stack : stacks) {
    const Section section = snapshot::section_of(*stack);
    ++(section == nullptr ? user : sections.*section);
  }
  CpuPart part{stacks.size(), ns(user), {}, {}};
  if (!run.sees_kernel) {
    const NotAvailable hidden{"only root sees the kernel's functions"};
    part.kernel_ns = hidden;
    part.sections_ns = hidden;
    return part;
  }
  part.kernel_ns = ns(stacks.size() - user);
  for (const KernelSection& each : kernel_sections()) sections.*each.section = ns(sections.*each.section);
  part.sections_ns = sections;
  return part;
}

}  // namespace

// Names of Linux 5.10 to 6.18 (mm/memory.c, mm/huge_memory.c, mm/userfaultfd.c, fs/userfaultfd.c, kernel/fork.c,
// arch/x86 and arch/arm64, lib and mm). A function that is inlined is seen as the one around it.
const std::vector<KernelSection>& kernel_sections() {
  static const std::vector<KernelSection> all{
      {&Sections::copy,
       "copying pages",
       {"copy_mc", "__pi_copy_page", "copy_highpage", "copy_user_highpage", "__wp_page_copy_user", "copy_subpage"}},
      {&Sections::zero,
       "filling pages with zeros",
       {"clear_page", "__pi_clear_page", "clear_huge_page", "clear_subpage", "folio_zero_user"}},
      {&Sections::allocate,
       "finding pages",
       {"alloc_pages", "__alloc_pages", "__alloc_frozen_pages", "alloc_frozen_pages", "vma_alloc_folio", "folio_alloc",
        "folio_prealloc", "get_page_from_freelist", "__mem_cgroup_charge", "shmem_get_folio", "shmem_alloc"}},
      {&Sections::free, "giving pages back", {"free_unref", "__folio_put", "folios_put", "release_pages"}},
      {&Sections::tlb,
       "invalidating TLBs",
       {"flush_tlb", "ptep_clear_flush", "native_flush_tlb", "smp_call_function", "on_each_cpu"}},
      {&Sections::split, "splitting huge pages", {"__split_huge_pmd", "split_huge_p"}},
      {&Sections::fault,
       "the rest of page faults",
       {"wp_", "do_wp_page", "handle_mm_fault", "__handle_mm_fault", "exc_page_fault", "asm_exc_page_fault",
        "do_user_addr_fault", "do_mem_abort", "do_page_fault", "do_translation_fault"}},
      {&Sections::fork, "fork", {"copy_process", "kernel_clone", "dup_mm"}},
      {&Sections::unmap, "unmapping", {"unmap_", "zap_", "exit_mm"}},
      {&Sections::userfaultfd, "userfaultfd", {"handle_userfault", "userfaultfd_", "mwriteprotect_range"}},
      {&Sections::lock,
       "waiting for locks",
       {"rwsem_", "down_read", "down_write", "native_queued_spin_lock", "queued_spin_lock"}},
      {&Sections::wait,
       "waiting for threads",
       {"futex", "__x64_sys_futex", "__arm64_sys_futex", "schedule", "clock_nanosleep"}},
      {&Sections::other, "anything else", {}}};
  return all;
}

Section section_of(const Stack& stack) {
  if (stack.empty() || stack.back().module != "kernel") return nullptr;
  for (std::size_t i = stack.size(); i-- > 0 && stack[i].module == "kernel";) {
    const Section section = section_of(std::string_view(stack[i].function));
    if (section != nullptr) return section;
  }
  return &Sections::other;
}

Measured<Cpu> cpu_of(const SnapshotRun& run) {
  const auto at = [&](const char* name) { return static_cast<std::uint64_t>(run.figure(name)); };
  std::vector<const Stack*> before;
  std::vector<const Stack*> after;
  std::vector<const Stack*> child;
  for (const SnapshotSample& sample : run.samples) {
    if (sample.time_ns < at("window_begin_ns") || sample.time_ns > at("window_end_ns")) continue;
    const bool of_parent = sample.pid == run.figure("pid");
    (!of_parent ? child : sample.time_ns < at("gone_ns") ? before : after).push_back(&sample.stack);
  }
  Cpu cpu{run.hz, run.lost, part_of(before, run), part_of(after, run), NotAvailable{"it has no child"}};
  if (run.figure("child") != 0) cpu.child = part_of(child, run);
  return cpu;
}

}  // namespace zerotax::snapshot
