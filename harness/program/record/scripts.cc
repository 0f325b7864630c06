#include "record/scripts.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "os/clock.h"

namespace zerotax::record {
namespace {

/// Seconds since 1970 of a time of the monotonic clock.
std::int64_t clock_time_s(std::int64_t monotonic) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count() - (monotonic_ns() - monotonic) / 1'000'000'000;
}

/// The process that a child was forked from; nullptr if that is not known.
const ProcessSlot* parent_of(const ProcessSlot& child, const std::vector<const ProcessSlot*>& processes) {
  if (child.forked == 0) return nullptr;
  const auto is_parent = [&](const ProcessSlot* other) {
    return other->pid == child.parent && other != &child && other->started_ns <= child.started_ns;
  };
  // Of one number, the last one that was before the child.
  const auto found = std::find_if(processes.rbegin(), processes.rend(), is_parent);
  return found != processes.rend() ? *found : nullptr;
}

}  // namespace

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
    const auto add = [&](const std::string& path) {
      if (interpreter_of(path).name.empty()) return;
      PerfMap& map = *map_of(*process);
      map.read();
      names.add(path, !map.empty(), map.problem());
    };
    add(&process->executable[0]);
    const std::uint32_t used = std::min<std::uint32_t>(process->modules_used, kModules);
    for (std::uint32_t i = 1; i < used; ++i) add(&process->modules[i].path[0]);
  }
  return names;
}

}  // namespace zerotax::record
