#include "record/site_stacks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "observe/symbols.h"

namespace zerotax::record {
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

}  // namespace

std::uint64_t weight_of(const RecordedSite& site, StackWeight weight) {
  switch (weight) {
    case StackWeight::kRedundant:
      return site.redundant_zeroed_bytes + site.sampled.redundant_zeroed_bytes;
    case StackWeight::kZeroed:
      return site.all_zeroed_bytes();
    case StackWeight::kKernel:
      return site.all_kernel_bytes();
    case StackWeight::kRefilled:
      return site.refilled_bytes;
    case StackWeight::kReturned:
      return site.returned_bytes + site.sampled.returned_at_most_bytes.value_or(0);
    case StackWeight::kTime:
      break;
  }
  return site.zero_ns + site.sampled.zero_cpu_ns.value_or(0);
}

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

FoldedStacks fold_sites(const std::vector<RecordedSite>& sites, StackWeight weight) {
  FoldedStacks stacks;
  for (const RecordedSite& site : sites) {
    const std::uint64_t value = weight_of(site, weight);
    if (value == 0) continue;
    std::vector<std::string> names;
    for (const NamedFrame& frame : site.frames) names.push_back(frame_label(frame, true));
    std::reverse(names.begin(), names.end());
    names.emplace_back(kind_text(site.kind == SiteKind::kByHand ? SiteKind::kCleared : site.kind));
    stacks[names] += value;
  }
  return stacks;
}

}  // namespace zerotax::record
