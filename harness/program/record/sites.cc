#include "record/sites.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "base/lines.h"
#include "base/printable.h"
#include "observe/symbols.h"
#include "os/clock.h"
#include "record/kernel_part.h"

namespace zerotax::record {
namespace {

struct Place {
  std::string module;
  std::vector<unsigned char> build_id;
  std::uint64_t address;
  // function of a script; if it is set, the members above are empty
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

Place place_of(const ProcessSlot& process, std::uint64_t frame, RecordedScripts& scripts) {
  const std::uint64_t index = frame >> kFrameModuleShift;
  if (index == kModules) {
    const PythonFunction& python = process.python_functions[(frame & kFrameAddressMask) % kScriptFunctions];
    const std::string name = one_line(printable(&python.function[0]));
    return {"", {}, 0, name.empty() ? "(unknown)" : name, one_line(printable(&python.file[0])), python.line};
  }
  if (index == 0 || index >= kModules) {
    const std::uint64_t address = frame & kFrameAddressMask;
    const auto script = scripts.function(process, address);
    return script ? Place{"", {}, 0, script->function, script->file, script->line} : Place{"", {}, address};
  }
  const Module& module = process.modules[index];
  const std::uint32_t length = std::min<std::uint32_t>(module.build_id_bytes, kBuildIdBytes);
  return {&module.path[0], {&module.build_id[0], &module.build_id[0] + length}, frame & kFrameAddressMask};
}

NamedFrame frame_of(const Place& place, Symbols& symbols) {
  return place.function.empty() ? symbols.frame(place.module, place.build_id, place.address)
                                : frame_of_script({place.function, place.file, place.line});
}

/// Estimates the redundant bytes in unexamined stores from the examined stores at the same site.
std::uint64_t likely_redundant(const Site& site) {
  const double examined = as_double(less(site.zeroed_bytes, site.unexamined_bytes));
  return examined == 0 ? 0
                       : as_count(as_double(site.unexamined_bytes + site.sampled_clears_bytes) *
                                  std::min(1.0, as_double(site.redundant_bytes) / examined));
}

std::uint64_t scaled(std::uint64_t bytes, double scale) { return as_count(as_double(bytes) * scale); }

/// Returns the estimate with more events, or nullptr if neither estimate has enough events to attribute bytes to a
/// site.
Estimate Site::*better_estimate(const ProcessSlot& process) {
  constexpr std::uint64_t kFewest = 8;
  std::uint64_t looks = 0;
  std::uint64_t growths = 0;
  for (const Site& site : process.sites) {
    if (site.ready == 0) continue;
    looks += site.first_pages.events;
    growths += site.growth.events;
  }
  if (std::max(looks, growths) < kFewest) return nullptr;
  return looks >= growths ? &Site::first_pages : &Site::growth;
}

/// Returns the process whose live heap had the highest peak, so that the live bytes of sites add up to the heap of one
/// process. Returns nullptr if there are no processes.
const ProcessSlot* largest_live(const std::vector<const ProcessSlot*>& processes) {
  const auto found =
      std::max_element(processes.begin(), processes.end(), [](const ProcessSlot* one, const ProcessSlot* other) {
        return one->holdings.peak_live_bytes < other->holdings.peak_live_bytes;
      });
  return found == processes.end() ? nullptr : *found;
}

/// Returns the bytes that were live at the peak. If the sites did not keep those bytes, returns the bytes that are live
/// at the end.
std::uint64_t live_at_peak(const ProcessSlot& process, const Site& site) {
  const Holdings& holdings = process.holdings;
  return holdings.peak_live_bytes > holdings.kept_peak_live_bytes ? site.live_bytes : site.live_at_peak_bytes;
}

/// Returns the factor that scales the estimates of a process. Together with the known bytes of large blocks, the scaled
/// estimates must not exceed the bytes that the kernel zeroed for the process. Remaining bytes belong to no site.
double share_out(const SeenRun& seen, const ProcessSlot& process, Estimate Site::*estimate, RecordedSites& sites) {
  const KernelPart& kernel = seen.kernel(process);
  if (!kernel.known()) return 1;
  std::uint64_t known = 0;
  std::uint64_t estimated = 0;
  for (const Site& site : process.sites) {
    if (site.ready == 0) continue;
    known += site.kernel_zeroed_bytes;
    if (estimate != nullptr) estimated += (site.*estimate).bytes;
  }
  const std::uint64_t left = less(kernel.zeroed, known);
  sites.elsewhere_bytes = sites.elsewhere_bytes.value_or(0) + less(left, estimated);
  return estimated <= left ? 1 : static_cast<double>(left) / static_cast<double>(estimated);
}

/// Converts a time of the monotonic clock to seconds since 1970.
std::int64_t clock_time_s(std::int64_t monotonic) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count() - (monotonic_ns() - monotonic) / 1'000'000'000;
}

/// Returns the process that forked a child; nullptr if that process is unknown.
const ProcessSlot* parent_of(const ProcessSlot& child, const std::vector<const ProcessSlot*>& processes) {
  if (child.forked == 0) return nullptr;
  const auto is_parent = [&](const ProcessSlot* other) {
    return other->pid == child.parent && other != &child && other->started_ns <= child.started_ns;
  };
  // If several processes had the parent's PID, the parent is the last one that began before the child.
  const auto found = std::find_if(processes.rbegin(), processes.rend(), is_parent);
  return found != processes.rend() ? *found : nullptr;
}

}  // namespace

std::vector<NamedFrame> named_frames(const ProcessSlot& process, const std::uint64_t* frames, std::size_t depth,
                                     RecordedScripts& scripts, Symbols& symbols) {
  std::vector<NamedFrame> named;
  for (std::size_t i = 0; i < depth; ++i) named.push_back(frame_of(place_of(process, frames[i], scripts), symbols));
  return named;
}

RecordedSites record_sites(const SeenRun& seen, RecordedScripts& scripts) {
  std::map<StackKey, RecordedSite> stacks;
  RecordedSites sites;
  const ProcessSlot* const largest = largest_live(seen.processes());
  for (const ProcessSlot* process : seen.processes()) {
    const auto estimate = better_estimate(*process);
    const double scale = share_out(seen, *process, estimate, sites);
    for (const Site& site : process->sites) {
      if (site.ready == 0) continue;
      StackKey key{site.kind, {}};
      for (std::uint32_t i = 0; i < std::min<std::uint32_t>(site.depth, kFrames); ++i) {
        key.frames.push_back(place_of(*process, site.frames[i], scripts));
      }
      RecordedSite& sum = stacks[key];
      sum.kind = site.kind;
      sum.calls += site.calls;
      if (site.sampled_calls != 0) sum.sampled.calls = sum.sampled.calls.value_or(0) + site.sampled_calls;
      sum.requested_bytes += site.requested_bytes;
      sum.zeroed_bytes += site.zeroed_bytes;
      sum.redundant_zeroed_bytes += site.redundant_bytes;
      sum.zero_ns += site.zero_ns;
      sum.zero_faults += site.zero_faults;
      sum.sampled.zeroed_bytes += site.sampled_zeroed_bytes + site.sampled_clears_bytes;
      sum.sampled.redundant_zeroed_bytes += site.sampled_redundant_bytes + likely_redundant(site);
      sum.kernel_zeroed_bytes += site.kernel_zeroed_bytes;
      if (estimate != nullptr) sum.sampled.kernel_zeroed_bytes += scaled((site.*estimate).bytes, scale);
      sum.refilled_bytes += site.refilled_bytes;
      if (process == largest) sum.live_bytes += live_at_peak(*process, site);
      for (std::size_t i = 0; i < kMechanisms; ++i) {
        sum.returned_by.by[i] += site.returned[i];
        sum.returned_bytes += site.returned[i];
      }
    }
  }
  Symbols symbols;
  for (auto& [key, site] : stacks) {
    for (const Place& place : key.frames) site.frames.push_back(frame_of(place, symbols));
    sites.rows.push_back(std::move(site));
  }
  std::stable_sort(sites.rows.begin(), sites.rows.end(),
                   [](const RecordedSite& a, const RecordedSite& b) { return a.weight() > b.weight(); });
  return sites;
}

const std::shared_ptr<PerfMap>& RecordedScripts::map_of(const ProcessSlot& process) {
  const auto known = maps_.find(&process);
  if (known != maps_.end()) return known->second;
  const ProcessSlot* parent = parent_of(process, processes_);
  std::shared_ptr<PerfMap> inherited = parent != nullptr ? map_of(*parent) : nullptr;
  auto own = std::make_shared<PerfMap>(process.pid, std::move(inherited), clock_time_s(process.started_ns));
  return maps_.emplace(&process, std::move(own)).first->second;
}

std::optional<ScriptFunction> RecordedScripts::function(const ProcessSlot& process, std::uint64_t address) {
  const PerfMapNames::Entry* entry = map_of(process)->find(address);
  return entry != nullptr ? std::optional(entry->function) : std::nullopt;
}

ScriptNames RecordedScripts::names() {
  ScriptNames names;
  for (const ProcessSlot* process : processes_) {
    const bool has_frames = std::any_of(std::begin(process->python_functions), std::end(process->python_functions),
                                        [](const PythonFunction& function) { return function.ready != 0; });
    const auto add = [&](const std::string& path) {
      if (interpreter_of(path).name.empty()) return;
      PerfMap& map = *map_of(*process);
      map.read();
      names.add(path, !map.empty(), map.problem());
      if (has_frames) names.add_frames(path);
    };
    add(&process->executable[0]);
    const std::uint32_t used = std::min<std::uint32_t>(process->modules_used, kModules);
    for (std::uint32_t i = 1; i < used; ++i) add(&process->modules[i].path[0]);
  }
  return names;
}

}  // namespace zerotax::record
