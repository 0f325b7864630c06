#include "profile/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/lines.h"
#include "base/table.h"
#include "profile/result.h"

namespace zerotax::profile {
namespace {

constexpr std::size_t kTopFunctions = 20;

/// A position in a function: the address of a call, or 0 for an innermost frame and in trees of functions.
struct Place {
  Frame frame;
  std::uint64_t address = 0;
  auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr)
  bool operator==(const Place&) const = default;
};

struct Node {
  std::uint64_t samples = 0;
  std::map<Place, Node> children;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> innermost;  ///< samples and offset, by address
};

template <typename Stacks>
Node tree_of(const Stacks& stacks, bool by_place) {
  Node root;
  for (const auto& [stack, count] : stacks) {
    root.samples += count;
    Node* node = &root;
    for (std::size_t i = 0; i < stack.size(); ++i) {
      const bool calls = i + 1 < stack.size();
      node = &node->children[{stack[i], by_place && calls ? stack[i].address : 0}];
      node->samples += count;
      if (by_place && !calls) {
        auto& [samples, offset] = node->innermost[stack[i].address];
        samples += count;
        offset = stack[i].offset;
      }
    }
  }
  return root;
}

/// Sets the place of a call. If there are several innermost places, sets the place with the most samples.
void add_place(Call& call, const Place& place, const Node& node) {
  std::uint64_t address = place.address;
  std::uint64_t offset = place.frame.offset;
  if (!node.innermost.empty() && address == 0) {
    const auto most =
        std::max_element(node.innermost.begin(), node.innermost.end(),
                         [](const auto& one, const auto& other) { return one.second.first < other.second.first; });
    address = most->first;
    offset = most->second.second;
  }
  call.offset = NotAvailable{"no symbol there"};
  if (offset != 0) call.offset = offset;
  call.address = NotAvailable{"not known"};
  if (address != 0) call.address = fmt::format("{:#x}", address);
  call.places = std::max<std::size_t>(node.innermost.size(), 1);
}

template <typename T>
void most_samples_first(std::vector<T>& list) {
  std::stable_sort(list.begin(), list.end(), [](const T& one, const T& other) { return one.samples > other.samples; });
}

Function function_of(const Frame& frame, std::uint64_t samples) {
  return {frame.function, frame.module, samples, frame.after.empty() ? std::nullopt : std::optional(frame.after)};
}

std::vector<Call> children_of(const Node& node, bool by_place) {
  std::vector<Call> calls;
  for (const auto& [place, child] : node.children) {
    calls.push_back({function_of(place.frame, child.samples), children_of(child, by_place), {}, {}, {}});
    if (by_place) add_place(calls.back(), place, child);
  }
  most_samples_first(calls);
  return calls;
}

/// Formats the place of a call: " + 61 [0x10a279f5d]". Adds ",..." to each number if the call combines several places.
std::string place_of(const Call& call) {
  if (!call.places) return "";
  std::string text;
  const char* more = *call.places > 1 ? ",..." : "";
  if (call.offset && *call.offset) text += fmt::format(" + {}{}", **call.offset, more);
  if (call.address && *call.address) text += fmt::format(" [{}{}]", **call.address, more);
  return text;
}

/// Shortens a line that is too wide: first leaves out the module, then cuts the name at its end. The place always
/// stays.
std::string call_line(const std::string& before, const Function& function, const std::string& place,
                      std::size_t columns) {
  const std::string name = function.after ? "after " + *function.after : function.function;
  std::string line = before + name;
  if (!function.module.empty()) line += fmt::format(" (in {})", function.module);
  if (shown_width(line) + place.size() > columns) {
    const std::size_t room = columns - std::min(columns, place.size());
    if (!place.empty()) line = before + name;
    if (room > 3) line = first_characters(line, room);
  }
  return line + place + "\n";
}

struct TreeWriter {
  double fewest;
  std::size_t columns;
  std::size_t hidden = 0;

  void write(const std::vector<Call>& calls, std::size_t depth, std::string& text) {
    for (const Call& call : calls) {
      if (static_cast<double>(call.samples) < fewest) {
        hidden += call.samples;
        continue;
      }
      // Indents each level by two more columns, up to the middle of the line, because chains of single calls are deep.
      const std::string indent(std::min(2 * depth, columns / 2), ' ');
      text += call_line(fmt::format("{:>7} {}", call.samples, indent), call, place_of(call), columns);
      write(call.children, depth + 1, text);
    }
  }

  [[nodiscard]] std::string rest(double least) const {
    return hidden > 0 ? fmt::format("{:>7} in branches below {:g} %\n", hidden, 100 * least) : "";
  }
};

}  // namespace

std::vector<Call> call_tree(const std::map<Stack, std::uint64_t>& stacks) {
  return children_of(tree_of(stacks, false), false);
}

std::vector<Thread> thread_trees(const ProfileData& data) {
  std::vector<Thread> threads;
  for (const auto& [thread, profile] : data.threads) {
    threads.push_back(
        {thread.first, thread.second, profile.name, profile.samples, children_of(tree_of(profile.stacks, true), true)});
  }
  most_samples_first(threads);
  return threads;
}

std::vector<Function> top_of_stack(const ProfileData& data) {
  std::map<Frame, std::uint64_t> counts;
  for (const auto& [stack, count] : data.stacks) counts[stack.back()] += count;
  std::vector<Function> functions;
  functions.reserve(counts.size());
  for (const auto& [frame, count] : counts) functions.push_back(function_of(frame, count));
  most_samples_first(functions);
  return functions;
}

std::string tree_lines(const std::vector<Call>& tree, std::uint64_t samples, std::size_t columns, double least) {
  TreeWriter writer{least * static_cast<double>(samples), columns};
  std::string text;
  writer.write(tree, 0, text);
  return text + writer.rest(least);
}

std::string thread_lines(const Profile& profile, std::size_t columns, double least) {
  TreeWriter writer{least * static_cast<double>(profile.samples), columns};
  std::set<std::uint32_t> processes;
  for (const Thread& thread : *profile.threads) processes.insert(thread.pid);
  std::string text;
  for (const Thread& thread : *profile.threads) {
    if (static_cast<double>(thread.samples) < writer.fewest) {
      writer.hidden += thread.samples;
      continue;
    }
    const std::string of = processes.size() > 1 ? fmt::format(" of process {}", thread.pid) : "";
    text += fmt::format("{:>7} Thread {}{}: {}\n", thread.samples, thread.tid, of, thread.name);
    writer.write(thread.tree, 1, text);
  }
  return text + writer.rest(least);
}

std::string top_lines(const Profile& profile, std::size_t columns) {
  std::string text;
  for (std::size_t i = 0; i < std::min(profile.top_of_stack.size(), kTopFunctions); ++i) {
    const Function& top = profile.top_of_stack[i];
    text += call_line(fmt::format("{:>7} {:>8}  ", top.samples, share_text(top.samples, profile.samples)), top, "",
                      columns);
  }
  return text;
}

}  // namespace zerotax::profile
