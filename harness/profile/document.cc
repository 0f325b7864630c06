#include "profile/document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/units.h"
#include "base/wrap.h"

namespace zerotax::profile {
namespace {

constexpr const char* kKernel = "kernel";
constexpr std::size_t kTopFunctions = 20;

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool is_zeroing(const Frame& frame) {
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
  if (stack.empty() || stack.back().module != kKernel) return "";
  static constexpr const char* kMapping[] = {"sys_mmap",   "sys_munmap",   "sys_madvise",    "sys_brk",
                                             "sys_mremap", "sys_mprotect", "ksys_mmap_pgoff"};
  for (std::size_t i = stack.size(); i-- > 0 && stack[i].module == kKernel;) {
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
    if (stack[i].module != kKernel) return &stack[i];
  }
  return nullptr;
}

struct Node {
  std::uint64_t samples = 0;
  std::map<Frame, Node> children;
};

Node tree_of(const ProfileData& data) {
  Node root;
  for (const auto& [stack, count] : data.stacks) {
    root.samples += count;
    Node* node = &root;
    for (const Frame& frame : stack) {
      node = &node->children[frame];
      node->samples += count;
    }
  }
  return root;
}

Json children_json(const Node& node) {
  std::vector<std::pair<Frame, const Node*>> children;
  for (const auto& [frame, child] : node.children) children.emplace_back(frame, &child);
  std::stable_sort(children.begin(), children.end(),
                   [](const auto& one, const auto& other) { return one.second->samples > other.second->samples; });
  Json json = Json::array();
  for (const auto& [frame, child] : children) {
    json.push_back({{"function", frame.function},
                    {"module", frame.module},
                    {"samples", child->samples},
                    {"children", children_json(*child)}});
  }
  return json;
}

Json categories_json(const ProfileData& data) {
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t zeroing_faults = 0;
  for (const char* each :
       {"zeroing", "page faults", "mapping calls", "other kernel", "copying", "allocator", "program"}) {
    counts[each] = 0;
  }
  for (const auto& [stack, count] : data.stacks) {
    const std::string category = category_of(stack);
    counts[category] += count;
    const Frame* user = innermost_user_frame(stack);
    if (category == "page faults" && user != nullptr && is_zeroing(*user)) zeroing_faults += count;
  }
  Json json = Json::array();
  for (const auto& [name, count] : counts) {
    const bool unseen =
        !data.sees_kernel && (name == "page faults" || name == "mapping calls" || name == "other kernel");
    const Json hidden = not_available("sampling the kernel is not permitted (perf_event_paranoid above 1)");
    json.push_back({{"category", name}, {"samples", unseen ? hidden : Json(count)}});
    if (name == "page faults") json.back()["while_zeroing"] = unseen ? hidden : Json(zeroing_faults);
  }
  std::stable_sort(json.begin(), json.end(), [](const Json& one, const Json& other) {
    const auto count = [](const Json& entry) {
      return entry.at("samples").is_number() ? entry.at("samples").get<std::int64_t>() : -1;
    };
    return count(one) > count(other);
  });
  return json;
}

Json top_json(const ProfileData& data) {
  std::map<Frame, std::uint64_t> counts;
  for (const auto& [stack, count] : data.stacks) counts[stack.back()] += count;
  std::vector<std::pair<Frame, std::uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& one, const auto& other) { return one.second > other.second; });
  Json json = Json::array();
  for (const auto& [frame, count] : sorted) {
    json.push_back({{"function", frame.function}, {"module", frame.module}, {"samples", count}});
  }
  return json;
}

std::string label(const Json& frame) {
  const auto module = frame.at("module").get<std::string>();
  const auto function = frame.at("function").get<std::string>();
  return module.empty() ? function : fmt::format("{} (in {})", function, module);
}

std::string cut(const std::string& text, std::size_t columns) {
  return text.size() <= columns ? text : text.substr(0, columns - 3) + "...";
}

struct TreeWriter {
  std::uint64_t total;
  std::size_t columns;
  double least;
  std::size_t hidden = 0;

  void write(const Json& children, std::size_t depth, std::string& text) {
    for (const Json& child : children) {
      const auto samples = child.at("samples").get<std::uint64_t>();
      if (static_cast<double>(samples) < least * static_cast<double>(total)) {
        hidden += samples;
        continue;
      }
      // A chain of single calls is deep: indent two columns per level, and never beyond the middle of the line.
      const std::string indent(std::min(2 * depth, columns / 2), ' ');
      text += cut(fmt::format("{:>7} {}{}", samples, indent, label(child)), columns) + "\n";
      write(child.at("children"), depth + 1, text);
    }
  }
};

std::string share_text(const Json& samples, std::uint64_t total) {
  if (!samples.is_number()) return "n/a";
  return format_percent(samples.get<double>() / static_cast<double>(std::max<std::uint64_t>(total, 1)));
}

std::string category_lines(const Json& profile, std::uint64_t total) {
  std::string text;
  for (const Json& entry : profile.at("categories")) {
    const Json& samples = entry.at("samples");
    if (samples.is_number() && samples.get<std::uint64_t>() == 0) continue;
    text += fmt::format("{:>7} {:>8}  {}", samples.is_number() ? samples.dump() : "n/a", share_text(samples, total),
                        entry.at("category").get<std::string>());
    if (entry.contains("while_zeroing") && entry.at("while_zeroing").is_number() &&
        entry.at("while_zeroing").get<std::uint64_t>() > 0) {
      text += fmt::format(" ({} of them taken by zeroing)", share_text(entry.at("while_zeroing"), samples));
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string category_of(const Stack& stack) {
  if (std::string kernel = kernel_category(stack); !kernel.empty()) return kernel;
  if (stack.empty()) return "program";
  if (is_zeroing(stack.back())) return "zeroing";
  if (is_copying(stack.back())) return "copying";
  return std::any_of(stack.begin(), stack.end(), is_allocator_entry) ? "allocator" : "program";
}

Json profile_json(const ProfileSubject& subject, const ProfileData& data, const Json& environment) {
  Json json;
  json["schema"] = "zerotax.profile/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["started"] = subject.started;
  json["environment"] = environment;
  json["command"] = subject.command;
  json["exit_status"] = subject.exit_status;
  json["method"] = {
      {"event", "cpu-clock"},
      {"hz", subject.hz},
      {"kernel",
       data.sees_kernel ? Json("sampled") : not_available("perf_event_paranoid is above 1, and this is not root")},
      {"kernel_names",
       data.knows_kernel_names ? Json("from /proc/kallsyms") : not_available("/proc/kallsyms hides the addresses")}};
  json["wall_s"] = subject.wall_s;
  json["user_s"] = subject.user_s;
  json["system_s"] = subject.system_s;
  json["samples"] = data.samples;
  json["lost"] = data.lost;
  json["categories"] = categories_json(data);
  json["top_of_stack"] = top_json(data);
  json["tree"] = children_json(tree_of(data));
  return json;
}

std::string profile_text(const Json& profile, std::size_t columns, double least) {
  const auto total = profile.at("samples").get<std::uint64_t>();
  const Json& method = profile.at("method");
  std::string text =
      wrap(fmt::format("{}", fmt::join(profile.at("command").get<std::vector<std::string>>(), " ")), "", "  ");
  text += wrap(
      fmt::format("{} at {} per second of CPU time; {:.3g} s user, {:.3g} s system, {:.3g} s in all",
                  format_counted(total, "sample"), method.at("hz").get<unsigned>(), profile.at("user_s").get<double>(),
                  profile.at("system_s").get<double>(), profile.at("wall_s").get<double>()),
      "", "  ");
  if (profile.at("lost").get<std::uint64_t>() > 0)
    text += fmt::format("lost: {}\n", format_counted(profile.at("lost"), "sample"));
  if (is_not_available(method.at("kernel")))
    text += wrap("kernel time is not sampled: " + method.at("kernel").at("na").get<std::string>(), "", "  ");
  if (total == 0) return text + "\nno samples: the program used too little CPU time\n";
  text += "\nTime by activity\n" + category_lines(profile, total);
  TreeWriter writer{total, columns, least};
  text += "\nCall graph\n";
  writer.write(profile.at("tree"), 0, text);
  if (writer.hidden > 0) text += fmt::format("{:>7} in branches below {:g} %\n", writer.hidden, 100 * least);
  text += "\nSort by top of stack\n";
  std::size_t rows = 0;
  for (const Json& entry : profile.at("top_of_stack")) {
    if (rows++ == kTopFunctions) break;
    text += cut(fmt::format("{:>7} {:>8}  {}", entry.at("samples").get<std::uint64_t>(),
                            share_text(entry.at("samples"), total), label(entry)),
                columns) +
            "\n";
  }
  return text;
}

FoldedStacks folded_stacks(const ProfileData& data, std::uint64_t weight) {
  FoldedStacks folded;
  for (const auto& [stack, count] : data.stacks) {
    std::vector<std::string> names;
    for (const Frame& frame : stack) names.push_back(frame.function + (frame.module == kKernel ? "_[k]" : ""));
    folded[names] += count * weight;
  }
  return folded;
}

}  // namespace zerotax::profile
