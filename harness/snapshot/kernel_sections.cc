#include "snapshot/kernel_sections.h"

#include <algorithm>
#include <array>

namespace zerotax::snapshot {
namespace {

struct Rule {
  const char* section;
  const char* prefix;  ///< of the kernel function's name
};

// Names of Linux 5.10 to 6.18 (mm/memory.c, mm/huge_memory.c, mm/userfaultfd.c, fs/userfaultfd.c, kernel/fork.c,
// arch/x86/lib and mm). A function that is inlined is seen as the one around it.
constexpr std::array kRules = {
    Rule{"copy", "copy_mc"},
    Rule{"copy", "copy_user_highpage"},
    Rule{"copy", "__wp_page_copy_user"},
    Rule{"copy", "copy_subpage"},
    Rule{"zero", "clear_page"},
    Rule{"zero", "clear_huge_page"},
    Rule{"zero", "clear_subpage"},
    Rule{"zero", "folio_zero_user"},
    Rule{"allocate", "alloc_pages"},
    Rule{"allocate", "__alloc_pages"},
    Rule{"allocate", "__alloc_frozen_pages"},
    Rule{"allocate", "alloc_frozen_pages"},
    Rule{"allocate", "vma_alloc_folio"},
    Rule{"allocate", "folio_alloc"},
    Rule{"allocate", "folio_prealloc"},
    Rule{"allocate", "get_page_from_freelist"},
    Rule{"allocate", "__mem_cgroup_charge"},
    Rule{"allocate", "shmem_get_folio"},
    Rule{"allocate", "shmem_alloc"},
    Rule{"free", "free_unref"},
    Rule{"free", "__folio_put"},
    Rule{"free", "folios_put"},
    Rule{"free", "release_pages"},
    Rule{"tlb", "flush_tlb"},
    Rule{"tlb", "ptep_clear_flush"},
    Rule{"tlb", "native_flush_tlb"},
    Rule{"tlb", "smp_call_function"},
    Rule{"tlb", "on_each_cpu"},
    Rule{"split", "__split_huge_pmd"},
    Rule{"split", "split_huge_p"},
    Rule{"userfaultfd", "handle_userfault"},
    Rule{"userfaultfd", "userfaultfd_"},
    Rule{"userfaultfd", "mwriteprotect_range"},
    Rule{"fork", "copy_process"},
    Rule{"fork", "kernel_clone"},
    Rule{"fork", "dup_mm"},
    Rule{"unmap", "unmap_"},
    Rule{"unmap", "zap_"},
    Rule{"unmap", "exit_mm"},
    Rule{"lock", "rwsem_"},
    Rule{"lock", "down_read"},
    Rule{"lock", "down_write"},
    Rule{"lock", "native_queued_spin_lock"},
    Rule{"lock", "queued_spin_lock"},
    Rule{"wait", "futex"},
    Rule{"wait", "__x64_sys_futex"},
    Rule{"wait", "schedule"},
    Rule{"wait", "clock_nanosleep"},
    Rule{"fault", "wp_"},
    Rule{"fault", "do_wp_page"},
    Rule{"fault", "handle_mm_fault"},
    Rule{"fault", "__handle_mm_fault"},
    Rule{"fault", "exc_page_fault"},
    Rule{"fault", "asm_exc_page_fault"},
    Rule{"fault", "do_user_addr_fault"},
};

/// copy_page_range is part of fork and copies no page; functions of similar names copy for system calls.
constexpr std::string_view kForkCopies[] = {"copy_page_range", "copy_pte_range", "copy_p4d_range"};

std::string_view section_of(std::string_view function) {
  for (const std::string_view name : kForkCopies) {
    if (function.starts_with(name)) return "fork";
  }
  if (function == "copy_page" || function == "copy_page_regs") return "copy";
  for (const Rule& rule : kRules) {
    if (function.starts_with(rule.prefix)) return rule.section;
  }
  return "";
}

/// Samples of one part of the time.
class Part {
 public:
  void add(const Stack& stack) {
    ++samples_;
    const std::string_view section = snapshot::section_of(stack);
    if (section.empty()) {
      ++user_;
      return;
    }
    for (std::size_t i = 0; i < kernel_sections().size(); ++i) {
      if (section == kernel_sections()[i].name) ++sections_[i];
    }
  }
  [[nodiscard]] Json json(const SnapshotRun& run) const {
    const auto ns = [&](std::uint64_t samples) { return samples * 1'000'000'000 / run.hz; };
    Json json = {{"samples", samples_}, {"user_ns", ns(user_)}};
    if (!run.sees_kernel) {
      json["kernel_ns"] = not_available("only root sees the kernel's functions");
      json["sections_ns"] = json["kernel_ns"];
      return json;
    }
    json["kernel_ns"] = ns(samples_ - user_);
    for (std::size_t i = 0; i < sections_.size(); ++i)
      json["sections_ns"][kernel_sections()[i].name] = ns(sections_[i]);
    return json;
  }

 private:
  std::uint64_t samples_ = 0;
  std::uint64_t user_ = 0;
  std::vector<std::uint64_t> sections_ = std::vector<std::uint64_t>(kernel_sections().size());
};

}  // namespace

const std::vector<KernelSection>& kernel_sections() {
  static const std::vector<KernelSection> all{
      {"copy", "copying pages"},
      {"zero", "filling pages with zeros"},
      {"allocate", "finding pages"},
      {"free", "giving pages back"},
      {"tlb", "invalidating TLBs"},
      {"split", "splitting huge pages"},
      {"fault", "the rest of page faults"},
      {"fork", "fork"},
      {"unmap", "unmapping"},
      {"userfaultfd", "userfaultfd"},
      {"lock", "waiting for locks"},
      {"wait", "waiting for threads"},
      {"other", "anything else"},
  };
  return all;
}

std::string_view section_of(const Stack& stack) {
  if (stack.empty() || stack.back().module != "kernel") return "";
  for (std::size_t i = stack.size(); i-- > 0 && stack[i].module == "kernel";) {
    const std::string_view section = section_of(std::string_view(stack[i].function));
    if (!section.empty()) return section;
  }
  return "other";
}

Json cpu_json(const SnapshotRun& run) {
  const auto at = [&](const char* name) { return static_cast<std::uint64_t>(run.figure(name)); };
  Part before;
  Part after;
  Part child;
  for (const SnapshotSample& sample : run.samples) {
    if (sample.time_ns < at("window_begin_ns") || sample.time_ns > at("window_end_ns")) continue;
    const bool of_parent = sample.pid == run.figure("pid");
    (!of_parent ? child : sample.time_ns < at("gone_ns") ? before : after).add(sample.stack);
  }
  Json json{{"hz", run.hz}, {"lost", run.lost}, {"before_end", before.json(run)}, {"after_end", after.json(run)}};
  json["child"] = run.figure("child") != 0 ? child.json(run) : not_available("it has no child");
  return json;
}

}  // namespace zerotax::snapshot
