#include "profile/categories.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/table.h"
#include "observe/kernel_symbols.h"
#include "profile/result.h"

namespace zerotax::profile {
namespace {

constexpr const char* kKernelModule = "kernel";
constexpr const char* kKernelCategories[] = {"page faults", "mapping calls", "other kernel"};
constexpr const char* kUserCategories[] = {"zeroing", "filling",   "memset (value unknown)",
                                           "copying", "allocator", "program"};
/// Categories of unknown cause. Unknown kernel samples may belong to any category of the kernel.
constexpr const char* kUnknownKernel = "kernel (cause unknown)";
constexpr const char* kWaiting = "waiting";
constexpr const char* kUnknownRunning = "running (not sampled)";

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool is_fill(const Frame& frame) {
  return contains(frame.function, "memset") || contains(frame.function, "bzero") || contains(frame.function, "stosb");
}

bool is_copying(const Frame& frame) {
  return contains(frame.function, "memcpy") || contains(frame.function, "memmove") ||
         contains(frame.function, "mempcpy");
}

bool is_allocator_entry(const Frame& frame) {
  static const std::set<std::string> names{"malloc",
                                           "calloc",
                                           "realloc",
                                           "free",
                                           "memalign",
                                           "posix_memalign",
                                           "aligned_alloc",
                                           "reallocarray",
                                           "__libc_malloc",
                                           "__libc_calloc",
                                           "__libc_free",
                                           "__libc_realloc",
                                           "cfree",
                                           "valloc",
                                           "operator new(unsigned long)",
                                           "operator delete(void*)"};
  return names.contains(frame.function);
}

/// Returns the category of a stack whose innermost frame is in the kernel; empty if that frame is in user mode.
std::string kernel_category(const Stack& stack) {
  if (stack.empty() || stack.back().module != kKernelModule) return "";
  if (stack.back().function == kKernelNotSampled || stack.back().function == KernelSymbols::kUnknown)
    return kUnknownKernel;
  static constexpr const char* kMapping[] = {"sys_mmap",   "sys_munmap",   "sys_madvise",    "sys_brk",
                                             "sys_mremap", "sys_mprotect", "ksys_mmap_pgoff"};
  for (std::size_t i = stack.size(); i-- > 0 && stack[i].module == kKernelModule;) {
    const Frame& frame = stack[i];
    if (kernel_work_of(std::string_view(frame.function)) == kFaultWork) return "page faults";
    for (const char* call : kMapping) {
      if (contains(frame.function, call)) return "mapping calls";
    }
  }
  return "other kernel";
}

const Frame* innermost_user_frame(const Stack& stack) {
  for (std::size_t i = stack.size(); i-- > 0;) {
    if (stack[i].module != kKernelModule) return &stack[i];
  }
  return nullptr;
}

/// Samples of one category. For page faults, also the samples in faults that a memset or bzero took.
struct CategorySamples {
  std::uint64_t samples = 0;
  std::uint64_t zeros = 0;
  std::uint64_t other_bytes = 0;
  std::uint64_t unknown = 0;
  std::uint64_t in_call = 0;
};

using Categories = std::map<std::string, CategorySamples>;

void add_stack(Categories& categories, const Stack& stack, std::uint64_t count, SampleKinds kinds) {
  kinds.waiting = std::min(kinds.waiting, count);
  if (kinds.waiting > 0) categories[kWaiting].samples += kinds.waiting;
  count -= kinds.waiting;
  if (count == 0) return;
  kinds.zeros = std::min(kinds.zeros, count);
  kinds.other_bytes = std::min(kinds.other_bytes, count - kinds.zeros);
  const std::uint64_t unknown = count - kinds.zeros - kinds.other_bytes;
  const auto add = [&](Fill fill, std::uint64_t samples) {
    if (samples > 0) categories[category_of(stack, fill)].samples += samples;
  };
  if (kinds.in_call > 0) categories[category_of(stack)].in_call += std::min(kinds.in_call, count);
  const Frame* user = innermost_user_frame(stack);
  if (user == nullptr || !is_fill(*user)) return add(Fill::kNone, count);
  add(Fill::kZeros, kinds.zeros);
  add(Fill::kOther, kinds.other_bytes);
  add(Fill::kUnknown, unknown);
  CategorySamples& taken = categories[category_of(stack, Fill::kUnknown)];
  taken.zeros += kinds.zeros;
  taken.other_bytes += kinds.other_bytes;
  taken.unknown += unknown;
}

template <typename Names>
bool is_one_of(const std::string& category, const Names& names) {
  return std::any_of(std::begin(names), std::end(names), [&](const char* each) { return category == each; });
}

/// Returns the reason why the number of a category's samples is unknown; empty if the number is known.
std::string why_unknown(const std::string& category, const Categories& found, const ProfileData& data) {
  if (is_one_of(category, kUserCategories)) return data.denied.empty() ? "" : "nothing could be sampled";
  if (!is_one_of(category, kKernelCategories)) return "";
  if (!data.denied.empty()) return "nothing could be sampled";
  if (!data.sees_kernel) return "sampling the kernel is not permitted (perf_event_paranoid above 1)";
  const auto unknown = found.find(kUnknownKernel);
  if (unknown == found.end() || unknown->second.samples == 0) return "";
  return "the kernel hides the names of its functions (kernel.kptr_restrict)";
}

/// Returns an upper bound of the samples of a kernel category: its own samples plus those of unknown cause. Page faults
/// occur outside of system calls, and mapping calls are system calls, so each of the two gets only a part of the
/// unknown samples.
std::uint64_t at_most(const std::string& category, const Categories& found, bool sampled) {
  const auto of = [&](const std::string& name) {
    const auto entry = found.find(name);
    return entry == found.end() ? CategorySamples{} : entry->second;
  };
  const CategorySamples unknown = of(kUnknownKernel);
  std::uint64_t most = unknown.samples;
  if (sampled && category == "page faults") most -= unknown.in_call;
  if (sampled && category == "mapping calls") most = unknown.in_call;
  return of(category).samples + most;
}

std::string taken_by(const Category& category, const std::optional<Measured<std::uint64_t>>& part, const char* words) {
  if (!part || part->value_or(0) == 0 || !category.samples) return "";
  return fmt::format("{} {}", share_text(*part, *category.samples), words);
}

}  // namespace

std::string category_of(const Stack& stack, Fill fill) {
  if (std::string kernel = kernel_category(stack); !kernel.empty()) return kernel;
  if (stack.empty()) return "program";
  if (stack.back().function == kUserNotSampled || stack.back().function == kNeverSampled) return kUnknownRunning;
  if (is_fill(stack.back())) {
    return fill == Fill::kZeros ? "zeroing" : fill == Fill::kOther ? "filling" : "memset (value unknown)";
  }
  if (is_copying(stack.back())) return "copying";
  return std::any_of(stack.begin(), stack.end(), is_allocator_entry) ? "allocator" : "program";
}

std::vector<Category> categories_of(const ProfileData& data, bool wall) {
  Categories categories;
  for (const char* each : {"zeroing", "filling", "memset (value unknown)", "page faults", "mapping calls",
                           "other kernel", "copying", "allocator", "program"}) {
    categories[each] = {};
  }
  if (wall) categories[kWaiting] = {};
  for (const auto& [stack, count] : data.stacks) {
    const auto kinds = data.kinds.find(stack);
    add_stack(categories, stack, count, kinds != data.kinds.end() ? kinds->second : SampleKinds{});
  }
  std::vector<Category> list;
  for (const auto& [name, found] : categories) {
    const std::string why = why_unknown(name, categories, data);
    const auto number = [&](std::uint64_t value) { return known_if(why.empty(), value, why); };
    Category category{name, number(found.samples), {}, {}, {}, {}};
    if (!why.empty() && is_one_of(name, kKernelCategories)) {
      category.at_most = at_most(name, categories, data.sees_kernel);
    }
    if (name == "page faults") {
      category.while_zeroing = number(found.zeros);
      category.while_filling = number(found.other_bytes);
      category.while_in_memset_of_unknown_value = number(found.unknown);
    }
    list.push_back(std::move(category));
  }
  std::stable_sort(list.begin(), list.end(), [](const Category& one, const Category& other) {
    return other.samples ? one.samples && *one.samples > *other.samples : bool{one.samples};
  });
  return list;
}

std::string category_lines(const Profile& profile) {
  Table table({{"", Unit::kNumber, 7}, right_text("", 8, 1, ""), {"", Unit::kText, 0, "", {}, 2}});
  for (const Category& category : profile.categories) {
    if (category.samples && *category.samples == 0) continue;
    std::string of_them;
    for (const std::string& part :
         {taken_by(category, category.while_zeroing, "of them taken by zeroing"),
          taken_by(category, category.while_filling, "by filling with other bytes"),
          taken_by(category, category.while_in_memset_of_unknown_value, "by memset (value unknown)")}) {
      if (!part.empty()) of_them += (of_them.empty() ? "" : ", ") + part;
    }
    if (category.at_most) of_them = "at most " + share_text(*category.at_most, profile.samples);
    table.add({category.samples ? fmt::format("{}", *category.samples) : "n/a",
               share_text(category.samples, profile.samples),
               category.category + (of_them.empty() ? "" : fmt::format(" ({})", of_them))});
  }
  return table.text(false);
}

}  // namespace zerotax::profile
