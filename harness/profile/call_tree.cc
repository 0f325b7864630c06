#include "profile/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "profile/share.h"

namespace zerotax::profile {
namespace {

constexpr std::size_t kTopFunctions = 20;

/// A place in a function: the one that it calls from, or 0 for all of them that were innermost.
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

/// "offset" and "address" of a call: of several innermost places, those of the one that was sampled most.
void add_place(Json& json, const Place& place, const Node& node) {
  std::uint64_t address = place.address;
  std::uint64_t offset = place.frame.offset;
  if (!node.innermost.empty() && address == 0) {
    const auto most =
        std::max_element(node.innermost.begin(), node.innermost.end(),
                         [](const auto& one, const auto& other) { return one.second.first < other.second.first; });
    address = most->first;
    offset = most->second.second;
  }
  json["offset"] = offset != 0 ? Json(offset) : not_available("no symbol there");
  json["address"] = address != 0 ? Json(fmt::format("{:#x}", address)) : not_available("not known");
  json["places"] = std::max<std::size_t>(node.innermost.size(), 1);
}

Json children_json(const Node& node, bool by_place) {
  std::vector<std::pair<Place, const Node*>> children;
  for (const auto& [place, child] : node.children) children.emplace_back(place, &child);
  std::stable_sort(children.begin(), children.end(),
                   [](const auto& one, const auto& other) { return one.second->samples > other.second->samples; });
  Json json = Json::array();
  for (const auto& [place, child] : children) {
    json.push_back({{"function", place.frame.function},
                    {"module", place.frame.module},
                    {"samples", child->samples},
                    {"children", children_json(*child, by_place)}});
    if (by_place) add_place(json.back(), place, *child);
  }
  return json;
}

std::string in_module(const Json& frame) {
  const auto module = frame.at("module").get<std::string>();
  return module.empty() ? "" : fmt::format(" (in {})", module);
}

/// " + 61 [0x10a279f5d]"; a comma where there are other places.
std::string place_of(const Json& frame) {
  if (!frame.contains("address")) return "";
  std::string text;
  const char* more = frame.at("places").get<std::size_t>() > 1 ? ",..." : "";
  if (frame.at("offset").is_number()) text += fmt::format(" + {}{}", frame.at("offset").get<std::uint64_t>(), more);
  if (frame.at("address").is_string()) text += fmt::format(" [{}{}]", frame.at("address").get<std::string>(), more);
  return text;
}

/// What is too wide is cut at its end; but a place is kept, then the name is cut, and the module left out first.
std::string call_line(const std::string& before, const Json& frame, std::size_t columns) {
  const std::string function = frame.at("function").get<std::string>();
  const std::string place = place_of(frame);
  std::string line = before + function + in_module(frame);
  if (line.size() + place.size() > columns) {
    const std::size_t room = columns - std::min(columns, place.size());
    if (!place.empty()) line = before + function;
    if (line.size() > room && room > 3) line = line.substr(0, room - 3) + "...";
  }
  return line + place + "\n";
}

struct TreeWriter {
  double fewest;
  std::size_t columns;
  std::size_t hidden = 0;

  void write(const Json& children, std::size_t depth, std::string& text) {
    for (const Json& child : children) {
      const auto samples = child.at("samples").get<std::uint64_t>();
      if (static_cast<double>(samples) < fewest) {
        hidden += samples;
        continue;
      }
      // A chain of single calls is deep: indent two columns per level, and never beyond the middle of the line.
      const std::string indent(std::min(2 * depth, columns / 2), ' ');
      text += call_line(fmt::format("{:>7} {}", samples, indent), child, columns);
      write(child.at("children"), depth + 1, text);
    }
  }

  [[nodiscard]] std::string rest(double least) const {
    return hidden > 0 ? fmt::format("{:>7} in branches below {:g} %\n", hidden, 100 * least) : "";
  }
};

}  // namespace

Json tree_json(const ProfileData& data) { return children_json(tree_of(data.stacks, false), false); }

Json threads_json(const ProfileData& data) {
  Json json = Json::array();
  for (const auto& [thread, profile] : data.threads) {
    json.push_back({{"pid", thread.first},
                    {"tid", thread.second},
                    {"name", profile.name},
                    {"samples", profile.samples},
                    {"tree", children_json(tree_of(profile.stacks, true), true)}});
  }
  std::stable_sort(json.begin(), json.end(), [](const Json& one, const Json& other) {
    return one.at("samples").get<std::uint64_t>() > other.at("samples").get<std::uint64_t>();
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

std::string tree_lines(const Json& profile, std::size_t columns, double least) {
  TreeWriter writer{least * profile.at("samples").get<double>(), columns};
  std::string text;
  writer.write(profile.at("tree"), 0, text);
  return text + writer.rest(least);
}

std::string thread_lines(const Json& profile, std::size_t columns, double least) {
  TreeWriter writer{least * profile.at("samples").get<double>(), columns};
  std::set<std::int64_t> processes;
  for (const Json& thread : profile.at("threads")) processes.insert(thread.at("pid").get<std::int64_t>());
  std::string text;
  for (const Json& thread : profile.at("threads")) {
    const auto samples = thread.at("samples").get<std::uint64_t>();
    if (static_cast<double>(samples) < writer.fewest) {
      writer.hidden += samples;
      continue;
    }
    const std::string of = processes.size() > 1 ? fmt::format(" of process {}", thread.at("pid").get<int>()) : "";
    text += fmt::format("{:>7} Thread {}{}: {}\n", samples, thread.at("tid").get<int>(), of,
                        thread.at("name").get<std::string>());
    writer.write(thread.at("tree"), 1, text);
  }
  return text + writer.rest(least);
}

std::string top_lines(const Json& profile, std::size_t columns) {
  std::string text;
  std::size_t rows = 0;
  for (const Json& entry : profile.at("top_of_stack")) {
    if (rows++ == kTopFunctions) break;
    text += call_line(fmt::format("{:>7} {:>8}  ", entry.at("samples").get<std::uint64_t>(),
                                  share_text(entry.at("samples"), profile.at("samples"))),
                      entry, columns);
  }
  return text;
}

}  // namespace zerotax::profile
