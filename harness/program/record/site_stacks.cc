#include "record/site_stacks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "exchange/pprof.h"
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

struct NamedType {
  StackWeight weight;
  const char* name;
  const char* outside;  ///< name of the weight for a program that was recorded from outside, or nullptr if it is
                        ///< unknown there
  const char* unit;
};
constexpr NamedType kTypes[] = {
    {StackWeight::kKernel, "kernel_zeroed", "kernel_zeroed", "bytes"},
    {StackWeight::kRefilled, "refilled", "refilled", "bytes"},
    {StackWeight::kZeroed, "zeroed", nullptr, "bytes"},
    {StackWeight::kRedundant, "redundant", nullptr, "bytes"},
    {StackWeight::kReturned, "returned", "returned_at_most", "bytes"},
    {StackWeight::kTime, "time", "cpu", "nanoseconds"},
};

/// Whether the recording's sites show this weight. In a recording from outside, returned bytes are shown only if calls
/// were sampled.
bool is_known(const Record& record, const NamedType& type) {
  if (!record.outside) return true;
  if (type.outside == nullptr) return false;
  return type.weight != StackWeight::kReturned || record.outside->why_no_returns.empty();
}

std::int64_t time_ns(const std::string& utc) {
  std::tm time{};
  if (::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr) return 0;
  return std::int64_t{::timegm(&time)} * 1'000'000'000;
}

exchange::Pprof::Frame frame_of(const NamedFrame& named) {
  exchange::Pprof::Frame frame;
  frame.function = named.label();
  frame.file = named.file.value_or("");
  frame.module = named.module.value_or("");
  frame.address = named.address;
  frame.line = named.line.value_or(0);
  return frame;
}

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

std::string pprof_of(const Record& record, StackWeight first) {
  exchange::Pprof profile;
  std::vector<NamedType> types;
  std::copy_if(std::begin(kTypes), std::end(kTypes), std::back_inserter(types),
               [&](const NamedType& type) { return is_known(record, type); });
  for (const NamedType& type : types) {
    const char* const name = record.outside ? type.outside : type.name;
    profile.types.push_back({name, type.unit});
    if (type.weight == first) profile.first_type = name;
  }
  const auto add = [&](exchange::Pprof::Sample sample, const auto& value_of) {
    for (const NamedType& type : types) sample.values.push_back(static_cast<std::int64_t>(value_of(type.weight)));
    if (std::any_of(sample.values.begin(), sample.values.end(), [](std::int64_t value) { return value != 0; })) {
      profile.samples.push_back(std::move(sample));
    }
  };
  for (const RecordedSite& site : record.sites) {
    exchange::Pprof::Sample sample;
    sample.kind = kind_text(site.kind);
    for (const NamedFrame& frame : site.frames) sample.frames.push_back(frame_of(frame));
    add(std::move(sample), [&](StackWeight weight) { return weight_of(site, weight); });
  }
  exchange::Pprof::Sample elsewhere;
  elsewhere.frames.push_back({"(not attributed)", "", "", 0, 0});
  add(std::move(elsewhere), [&](StackWeight weight) {
    return weight == StackWeight::kKernel ? record.kernel_zeroed_elsewhere_bytes.value_or(0) : 0;
  });
  profile.time_ns = time_ns(record.started);
  profile.duration_ns = record.run.wall_ns;
  profile.comments = {fmt::format("zerotax {}", record.zerotax_version),
                      fmt::format("{}", fmt::join(record.command, " "))};
  return exchange::pprof_file(profile);
}

}  // namespace zerotax::record
