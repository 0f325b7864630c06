#include "observe/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>

namespace zerotax {

KernelSymbols::KernelSymbols(const std::string& path) {
  // A line is, for example, "ffffffff81000000 T _stext", and a module may follow after a blank. The file has some
  // 200,000 lines, and is read before sampling begins.
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::uint64_t address = 0;
    const char* end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data(), end, address, 16);
    if (error != std::errc() || address == 0 || end - rest < 4 || rest[0] != ' ' || rest[2] != ' ') continue;
    const char kind = rest[1];
    if (kind != 't' && kind != 'T' && kind != 'w' && kind != 'W') continue;
    const char* name = rest + 3;
    by_address_.emplace_hint(by_address_.end(), address,
                             std::string(name, std::find_if(name, end, [](char c) { return c == ' ' || c == '\t'; })));
  }
}

std::string KernelSymbols::name(std::uint64_t address) const {
  const auto above = by_address_.upper_bound(address);
  return above == by_address_.begin() ? kUnknown : std::prev(above)->second;
}

Frame KernelSymbols::frame(std::uint64_t address) const {
  const auto above = by_address_.upper_bound(address);
  const std::uint64_t offset = above == by_address_.begin() ? 0 : address - std::prev(above)->first;
  return {name(address), "kernel", address, offset};
}

// Names of Linux 5.10 to 6.18 (mm/memory.c, mm/huge_memory.c, mm/userfaultfd.c, fs/userfaultfd.c, kernel/fork.c, lib
// and mm of arch/x86 and arch/arm64). A sample in an inlined function shows the function that contains the inlined
// code.
const std::vector<KernelWorkRow>& kernel_works() {
  static const std::vector<KernelWorkRow> all{
      {"copying pages",
       {"copy_mc", "__pi_copy_page", "copy_highpage", "copy_user_highpage", "__wp_page_copy_user", "copy_subpage"}},
      {"filling pages with zeros",
       {"clear_page", "__pi_clear_page", "clear_huge_page", "clear_subpage", "folio_zero_user"}},
      {"finding pages",
       {"alloc_pages", "__alloc_pages", "__alloc_frozen_pages", "alloc_frozen_pages", "vma_alloc_folio", "folio_alloc",
        "folio_prealloc", "get_page_from_freelist", "__mem_cgroup_charge", "shmem_get_folio", "shmem_alloc"}},
      {"giving pages back", {"free_unref", "__folio_put", "folios_put", "release_pages"}},
      {"invalidating TLBs", {"flush_tlb", "ptep_clear_flush", "native_flush_tlb", "smp_call_function", "on_each_cpu"}},
      {"splitting huge pages", {"__split_huge_pmd", "split_huge_p"}},
      {"the rest of page faults",
       {"wp_", "do_wp_page", "handle_mm_fault", "__handle_mm_fault", "exc_page_fault", "asm_exc_page_fault",
        "do_user_addr_fault", "do_mem_abort", "do_page_fault", "do_translation_fault"}},
      {"fork", {"copy_process", "kernel_clone", "dup_mm", "copy_page_range", "copy_pte_range", "copy_p4d_range"}},
      {"unmapping", {"unmap_", "zap_", "exit_mm"}},
      {"userfaultfd", {"handle_userfault", "userfaultfd_", "mwriteprotect_range"}},
      {"waiting for locks", {"rwsem_", "down_read", "down_write", "native_queued_spin_lock", "queued_spin_lock"}},
      {"waiting for threads", {"futex", "__x64_sys_futex", "__arm64_sys_futex", "schedule", "clock_nanosleep"}},
      {"anything else", {}}};
  return all;
}

std::optional<KernelWork> kernel_work_of(std::string_view function) {
  // Full names, because the prefix copy_page would match copy_page_range of fork and copy_page_to_iter of system calls.
  if (function == "copy_page" || function == "copy_page_regs") return kCopyWork;
  for (std::size_t work = 0; work < kKernelWorks; ++work) {
    const auto& prefixes = kernel_works()[work].prefixes;
    if (std::any_of(prefixes.begin(), prefixes.end(), [&](const char* each) { return function.starts_with(each); })) {
      return static_cast<KernelWork>(work);
    }
  }
  return {};
}

std::optional<KernelWork> kernel_work_of(const Stack& stack) {
  if (stack.empty() || stack.back().module != "kernel") return {};
  for (std::size_t i = stack.size(); i-- > 0 && stack[i].module == "kernel";) {
    if (const auto work = kernel_work_of(std::string_view(stack[i].function))) return work;
  }
  return kOtherWork;
}

}  // namespace zerotax
