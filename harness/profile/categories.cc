#include "profile/categories.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/units.h"
#include "profile/share.h"

namespace zerotax::profile {
namespace {

constexpr const char* kKernelModule = "kernel";
constexpr const char* kKernelCategories[] = {"page faults", "mapping calls", "other kernel"};

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

/// What the kernel was doing, by its frames; nothing if the stack ends in user mode.
std::string kernel_category(const Stack& stack) {
  if (stack.empty() || stack.back().module != kKernelModule) return "";
  static constexpr const char* kMapping[] = {"sys_mmap",   "sys_munmap",   "sys_madvise",    "sys_brk",
                                             "sys_mremap", "sys_mprotect", "ksys_mmap_pgoff"};
  for (std::size_t i = stack.size(); i-- > 0 && stack[i].module == kKernelModule;) {
    const Frame& frame = stack[i];
    if (contains(frame.function, "exc_page_fault") || contains(frame.function, "handle_mm_fault")) return "page faults";
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

/// Samples of one category, and of page faults those that a memset or bzero took.
struct CategorySamples {
  std::uint64_t samples = 0;
  std::uint64_t zeros = 0;
  std::uint64_t other_bytes = 0;
  std::uint64_t unknown = 0;
};

using Categories = std::map<std::string, CategorySamples>;

void add_stack(Categories& categories, const Stack& stack, std::uint64_t count, SampleKinds kinds) {
  kinds.waiting = std::min(kinds.waiting, count);
  if (kinds.waiting > 0) categories["waiting"].samples += kinds.waiting;
  count -= kinds.waiting;
  if (count == 0) return;
  kinds.zeros = std::min(kinds.zeros, count);
  kinds.other_bytes = std::min(kinds.other_bytes, count - kinds.zeros);
  const std::uint64_t unknown = count - kinds.zeros - kinds.other_bytes;
  const auto add = [&](Fill fill, std::uint64_t samples) {
    if (samples > 0) categories[category_of(stack, fill)].samples += samples;
  };
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

bool is_of_kernel(const std::string& category) {
  return std::any_of(std::begin(kKernelCategories), std::end(kKernelCategories),
                     [&](const char* each) { return category == each; });
}

std::string taken_by(const Json& entry, const char* key, const char* words) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number() || found->get<std::uint64_t>() == 0) return "";
  return fmt::format("{} {}", share_text(*found, entry.at("samples")), words);
}

}  // namespace

std::string category_of(const Stack& stack, Fill fill) {
  if (std::string kernel = kernel_category(stack); !kernel.empty()) return kernel;
  if (stack.empty()) return "program";
  if (is_fill(stack.back())) {
    return fill == Fill::kZeros ? "zeroing" : fill == Fill::kOther ? "filling" : "memset (value unknown)";
  }
  if (is_copying(stack.back())) return "copying";
  return std::any_of(stack.begin(), stack.end(), is_allocator_entry) ? "allocator" : "program";
}

Json categories_json(const ProfileData& data, bool wall) {
  Categories categories;
  for (const char* each : {"zeroing", "filling", "memset (value unknown)", "page faults", "mapping calls",
                           "other kernel", "copying", "allocator", "program"}) {
    categories[each] = {};
  }
  if (wall) categories["waiting"] = {};
  for (const auto& [stack, count] : data.stacks) {
    const auto kinds = data.kinds.find(stack);
    add_stack(categories, stack, count, kinds != data.kinds.end() ? kinds->second : SampleKinds{});
  }
  Json json = Json::array();
  for (const auto& [name, found] : categories) {
    const Json hidden = not_available("sampling the kernel is not permitted (perf_event_paranoid above 1)");
    const bool unseen = !data.sees_kernel && is_of_kernel(name);
    const auto number = [&](std::uint64_t value) { return unseen ? hidden : Json(value); };
    json.push_back({{"category", name}, {"samples", number(found.samples)}});
    if (name != "page faults") continue;
    json.back()["while_zeroing"] = number(found.zeros);
    json.back()["while_filling"] = number(found.other_bytes);
    json.back()["while_in_memset_of_unknown_value"] = number(found.unknown);
  }
  std::stable_sort(json.begin(), json.end(), [](const Json& one, const Json& other) {
    const auto count = [](const Json& entry) {
      return entry.at("samples").is_number() ? entry.at("samples").get<std::int64_t>() : -1;
    };
    return count(one) > count(other);
  });
  return json;
}

std::string category_lines(const Json& profile) {
  std::string text;
  for (const Json& entry : profile.at("categories")) {
    const Json& samples = entry.at("samples");
    if (samples.is_number() && samples.get<std::uint64_t>() == 0) continue;
    text += fmt::format("{:>7} {:>8}  {}", samples.is_number() ? samples.dump() : "n/a",
                        share_text(samples, profile.at("samples")), entry.at("category").get<std::string>());
    std::string of_them;
    for (const std::string& part : {taken_by(entry, "while_zeroing", "of them taken by zeroing"),
                                    taken_by(entry, "while_filling", "by filling with other bytes"),
                                    taken_by(entry, "while_in_memset_of_unknown_value", "by memset (value unknown)")}) {
      if (!part.empty()) of_them += (of_them.empty() ? "" : ", ") + part;
    }
    text += of_them.empty() ? "\n" : fmt::format(" ({})\n", of_them);
  }
  return text;
}

}  // namespace zerotax::profile
