#include "record/sites.h"

#include <algorithm>
#include <map>
#include <string>

#include "observe/symbols.h"
#include "record/metrics.h"

namespace zerotax::record {
namespace {

using namespace record;

struct Place {
  std::string module;
  std::vector<unsigned char> build_id;
  std::uint64_t address;
  // Of a script's function, in place of all that.
  std::string function = {};
  std::string file = {};
  int line = 0;

  auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr): its own comparison with 0
};

struct StackKey {
  SiteKind kind;
  std::vector<Place> frames;

  auto operator<=>(const StackKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct Sums {
  std::uint64_t calls = 0;
  std::uint64_t requested = 0;
  std::uint64_t zeroed = 0;
  std::uint64_t redundant = 0;
  std::uint64_t ns = 0;
  std::uint64_t faults = 0;
  std::uint64_t sampled_zeroed = 0;
  std::uint64_t sampled_redundant = 0;
  std::uint64_t kernel_zeroed = 0;
  std::uint64_t refilled = 0;
  std::uint64_t returned[kMechanisms] = {};
};

Place place_of(const ProcessSlot& process, std::uint64_t frame, RecordedScripts& scripts) {
  const std::uint64_t index = frame >> kFrameModuleShift;
  if (index == 0 || index >= kModules) {
    const std::uint64_t address = frame & kFrameAddressMask;
    const auto script = scripts.function(process, address);
    return script ? Place{"", {}, 0, script->function, script->file, script->line} : Place{"", {}, address};
  }
  const Module& module = process.modules[index];
  const std::uint32_t length = std::min<std::uint32_t>(module.build_id_bytes, kBuildIdBytes);
  return {&module.path[0], {&module.build_id[0], &module.build_id[0] + length}, frame & kFrameAddressMask};
}

const char* kind_name(SiteKind kind) {
  switch (kind) {
    case SiteKind::kCalloc:
      return "calloc";
    case SiteKind::kRealloc:
      return "realloc";
    case SiteKind::kByHand:
      return "by_hand";
    case SiteKind::kFree:
      return "free";
    case SiteKind::kPurge:
      return "purge";
    case SiteKind::kProgram:
      return "program";
    case SiteKind::kOther:
      break;
  }
  return "malloc";
}

Json site_json(const StackKey& key, const Sums& sums, Symbols& symbols) {
  Json json;
  json["kind"] = kind_name(key.kind);
  json["calls"] = sums.calls;
  json["requested_bytes"] = sums.requested;
  json["zeroed_bytes"] = sums.zeroed;
  json["redundant_zeroed_bytes"] = sums.redundant;
  json["zero_ns"] = sums.ns;
  json["zero_faults"] = sums.faults;
  json["sampled"] = {{"zeroed_bytes", sums.sampled_zeroed}, {"redundant_zeroed_bytes", sums.sampled_redundant}};
  json["kernel_zeroed_bytes"] = sums.kernel_zeroed;
  json["refilled_bytes"] = sums.refilled;
  std::uint64_t returned = 0;
  json["returned_by"] = Json::object();
  for (std::size_t i = 0; i < kMechanisms; ++i) {
    returned += sums.returned[i];
    if (sums.returned[i] != 0) json["returned_by"][mechanism_name(i)] = sums.returned[i];
  }
  json["returned_bytes"] = returned;
  json["frames"] = Json::array();
  for (const Place& place : key.frames) {
    json["frames"].push_back(place.function.empty() ? symbols.frame(place.module, place.build_id, place.address)
                                                    : script_frame_json({place.function, place.file, place.line}));
  }
  return json;
}

}  // namespace

std::uint64_t site_zeroed_bytes(const Json& site) {
  return site.at("zeroed_bytes").get<std::uint64_t>() + site.at("sampled").at("zeroed_bytes").get<std::uint64_t>();
}

std::uint64_t site_weight(const Json& site) {
  return site_zeroed_bytes(site) + site.at("kernel_zeroed_bytes").get<std::uint64_t>() +
         site.at("returned_bytes").get<std::uint64_t>();
}

Json record_sites(const std::vector<const ProcessSlot*>& processes, RecordedScripts& scripts) {
  std::map<StackKey, Sums> stacks;
  for (const ProcessSlot* process : processes) {
    for (const Site& site : process->sites) {
      if (site.ready == 0) continue;
      StackKey key{site.kind, {}};
      for (std::uint32_t i = 0; i < std::min<std::uint32_t>(site.depth, kFrames); ++i) {
        key.frames.push_back(place_of(*process, site.frames[i], scripts));
      }
      Sums& sums = stacks[key];
      sums.calls += site.calls;
      sums.requested += site.requested_bytes;
      sums.zeroed += site.zeroed_bytes;
      sums.redundant += site.redundant_bytes;
      sums.ns += site.zero_ns;
      sums.faults += site.zero_faults;
      sums.sampled_zeroed += site.sampled_zeroed_bytes;
      sums.sampled_redundant += site.sampled_redundant_bytes;
      sums.kernel_zeroed += site.kernel_zeroed_bytes;
      sums.refilled += site.refilled_bytes;
      for (std::size_t i = 0; i < kMechanisms; ++i) sums.returned[i] += site.returned[i];
    }
  }
  Symbols symbols;
  std::vector<Json> rows;
  rows.reserve(stacks.size());
  for (const auto& [key, sums] : stacks) rows.push_back(site_json(key, sums, symbols));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Json& a, const Json& b) { return site_weight(a) > site_weight(b); });
  return rows;
}

}  // namespace zerotax::record
