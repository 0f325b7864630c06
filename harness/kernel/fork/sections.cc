#include "fork/sections.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "observe/kernel_symbols.h"

namespace zerotax::fork {
namespace {

enum Section : std::size_t {
  kPageTables,
  kMappings,
  kAddressSpace,
  kTask,
  kContext,
  kPid,
  kDescriptors,
  kDirectory,
  kCredentials,
  kGroups,
  kWakeUp,
  kObservers,
  kRest,
};

struct Rule {
  std::string_view function;  ///< "name*" matches every name with that prefix
  Section section;
};

/// The kernel's functions and their section of a fork. The outermost function of a stack that has a rule decides the
/// section. Exception: copy_page_range decides within dup_mmap. The names are those of kernel/fork.c and its callees,
/// Linux 5.10 to 6.18. Functions without a rule (locks, the slab allocator) belong to their caller.
constexpr auto kRules = std::to_array<Rule>({
    {"copy_page_range", kPageTables},
    {"dup_mmap", kMappings},
    {"anon_vma_fork", kMappings},
    {"vm_area_dup", kMappings},
    {"dup_mm_exe_file", kMappings},
    {"khugepaged_fork", kMappings},
    {"__khugepaged_enter", kMappings},
    {"ksm_fork", kMappings},
    {"__ksm_enter", kMappings},
    {"mm_init*", kAddressSpace},
    {"pgd_alloc", kAddressSpace},
    {"mm_alloc", kAddressSpace},
    {"init_new_context*", kAddressSpace},
    {"dup_mm*", kAddressSpace},
    {"copy_mm", kAddressSpace},
    {"mmput", kAddressSpace},
    {"dup_task_struct", kTask},
    {"kmem_cache_alloc_node*", kTask},
    {"alloc_thread_stack*", kTask},
    {"__vmalloc_node*", kTask},
    {"memcg_charge_kernel_stack*", kTask},
    {"account_kernel_stack*", kTask},
    {"arch_dup_task_struct", kTask},
    {"dup_user_cpus_ptr", kTask},
    {"scs_prepare", kTask},
    {"get_random_u*", kTask},
    {"copy_thread*", kContext},
    {"fpu_clone", kContext},
    {"alloc_pid", kPid},
    {"attach_pid", kPid},
    {"init_task_pid*", kPid},
    {"pidfs_*", kPid},
    {"copy_files", kDescriptors},
    {"dup_fd", kDescriptors},
    {"copy_fs*", kDirectory},
    {"path_get", kDirectory},
    {"copy_creds", kCredentials},
    {"copy_namespaces", kCredentials},
    {"security_*", kCredentials},
    {"audit_alloc", kCredentials},
    {"copy_semundo", kCredentials},
    {"copy_io", kCredentials},
    {"cgroup_*", kGroups},
    {"sched_cgroup_fork", kWakeUp},
    {"sched_*", kWakeUp},
    {"wake_up_new_task", kWakeUp},
    {"perf_event_*", kObservers},
    {"bpf_trace_run*", kObservers},
    {"ftrace_graph_*", kObservers},
    {"trace_*", kObservers},
    {"proc_fork_connector", kObservers},
    {"uprobe_copy_process", kObservers},
});

bool matches(std::string_view rule, std::string_view function) {
  if (rule.ends_with('*')) return function.starts_with(rule.substr(0, rule.size() - 1));
  return function == rule;
}

/// Removes the suffix that the compiler appends to a name, as in "dup_fd.isra.0".
std::string_view plain(std::string_view function) { return function.substr(0, function.find('.')); }

}  // namespace

const std::vector<ForkSection>& fork_sections() {
  static const std::vector<ForkSection> kSections{
      {"page tables", "procdup loop", true},
      {"mappings", "procdup loop", true},
      {"address space", "uballoc", true},
      {"task and kernel stack", "uballoc", false},
      {"registers and FPU", "setuctxt", false},
      {"process number", "Search", false},
      {"descriptors", "Miscellaneous", false},
      {"directory", "Miscellaneous", false},
      {"rights and namespaces", "Miscellaneous", false},
      {"control groups", "Miscellaneous", false},
      {"scheduling, wake-up", "Miscellaneous", false},
      {"observers", "-", false},
      {"rest (signals, locks)", "Miscellaneous", false},
  };
  return kSections;
}

std::size_t section_of(const std::vector<std::string>& stack) {
  std::size_t section = kRest;
  for (const std::string& function : stack) {
    for (const Rule& rule : kRules) {
      if (!matches(rule.function, plain(function))) continue;
      // copy_page_range is called by dup_mmap, and dup_mm may call all functions of the address space.
      const bool finer = section == kRest || (section == kMappings && rule.section == kPageTables) ||
                         (section == kAddressSpace && rule.section < kAddressSpace);
      if (finer) section = rule.section;
      break;
    }
  }
  return section;
}

bool clears_pages(const std::vector<std::string>& stack) {
  return std::any_of(stack.begin(), stack.end(),
                     [](const std::string& name) { return kernel_work_of(std::string_view(name)) == kZeroWork; });
}

const std::vector<CasperRow>& casper_table() {
  static const std::vector<CasperRow> kTable{{"Search", 0.67, 5},        {"uballoc", 3.86, 26},
                                             {"setuctxt", 3.27, 22},     {"procdup loop", 5.84, 40},
                                             {"Miscellaneous", 1.07, 7}, {"Total fork", 14.71, 100}};
  return kTable;
}

}  // namespace zerotax::fork
