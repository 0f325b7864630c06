#include "observe/folded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest.h"
#include "observe/symbols.h"

namespace zerotax {
namespace {

struct NamedWeight {
  const char* name;
  StackWeight weight;
  const char* title;
};
constexpr NamedWeight kWeights[] = {
    {"redundant", StackWeight::kRedundant, "Bytes zeroed that were already zero"},
    {"zeroed", StackWeight::kZeroed, "Bytes zeroed"},
    {"kernel", StackWeight::kKernel, "Bytes zeroed by the kernel"},
    {"refilled", StackWeight::kRefilled, "Bytes zeroed by the kernel in place of returned memory"},
    {"returned", StackWeight::kReturned, "Bytes returned to the kernel"},
    {"ns", StackWeight::kTime, "Time in large stores of zeros"},
};

std::uint64_t weight_of(const Json& site, StackWeight weight) {
  const Json& sampled = site.at("sampled");
  switch (weight) {
    case StackWeight::kRedundant:
      return site.at("redundant_zeroed_bytes").get<std::uint64_t>() +
             sampled.at("redundant_zeroed_bytes").get<std::uint64_t>();
    case StackWeight::kZeroed:
      return site.at("zeroed_bytes").get<std::uint64_t>() + sampled.at("zeroed_bytes").get<std::uint64_t>();
    case StackWeight::kKernel:
      return site.at("kernel_zeroed_bytes").get<std::uint64_t>() +
             sampled.value("kernel_zeroed_bytes", std::uint64_t{0});
    case StackWeight::kRefilled:
      return site.at("refilled_bytes").get<std::uint64_t>();
    case StackWeight::kReturned:
      return site.at("returned_bytes").get<std::uint64_t>();
    case StackWeight::kTime:
      break;
  }
  return site.at("zero_ns").get<std::uint64_t>();
}

/// Semicolons separate the functions of a line, line breaks the lines.
std::string clean(std::string name) {
  std::replace(name.begin(), name.end(), ';', ':');
  std::replace(name.begin(), name.end(), '\n', ' ');
  return name;
}

}  // namespace

const std::vector<std::string>& stack_weight_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const NamedWeight& known : kWeights) all.emplace_back(known.name);
    return all;
  }();
  return names;
}

StackWeight parse_stack_weight(const std::string& name) {
  for (const NamedWeight& known : kWeights) {
    if (name == known.name) return known.weight;
  }
  refuse_word(fmt::format("unknown weight '{}'", name), name, stack_weight_names());
}

const char* stack_weight_title(StackWeight weight) {
  for (const NamedWeight& known : kWeights) {
    if (weight == known.weight) return known.title;
  }
  return "";
}

FoldedStacks fold_sites(const Json& sites, StackWeight weight) {
  FoldedStacks stacks;
  for (const Json& site : sites) {
    const std::uint64_t value = weight_of(site, weight);
    if (value == 0) continue;
    std::vector<std::string> names;
    for (const Json& frame : site.at("frames")) names.push_back(clean(frame_label(frame.get<NamedFrame>(), true)));
    std::reverse(names.begin(), names.end());
    const std::string kind = site.at("kind");
    names.push_back(kind == "by_hand" || kind == "by_program" ? "memset" : kind);
    stacks[names] += value;
  }
  return stacks;
}

std::string folded_text(const FoldedStacks& stacks) {
  std::string text;
  for (const auto& [names, value] : stacks) text += fmt::format("{} {}\n", fmt::join(names, ";"), value);
  return text;
}

}  // namespace zerotax
