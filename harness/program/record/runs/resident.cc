#include "record/runs/resident.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "record/where.h"

namespace zerotax::record::runs {
namespace {

using Processes = std::vector<const ResidentProcess*>;

struct MomentRow {
  ResidentAt at;
  Metric first;  ///< kResidentAt...
  const char* why_none;
};
constexpr MomentRow kMoments[] = {
    {ResidentAt::kIdle, Metric::kResidentAtIdle, "no process was idle for a second"},
    {ResidentAt::kPeak, Metric::kResidentAtPeak, "no process was seen"},
    {ResidentAt::kEnd, Metric::kResidentAtEnd, "the end of a process was not seen"},
};
constexpr std::uint64_t MemoryParts::*kParts[] = {&MemoryParts::resident_bytes, &MemoryParts::live_bytes,
                                                  &MemoryParts::free_bytes, &MemoryParts::fragmented_bytes,
                                                  &MemoryParts::offered_bytes};

Metric metric_at(const MomentRow& row, std::uint64_t MemoryParts::*part) {
  const auto at = std::find(std::begin(kParts), std::end(kParts), part) - std::begin(kParts);
  return static_cast<Metric>(static_cast<std::size_t>(row.first) + static_cast<std::size_t>(at));
}

/// Returns a moment of a process, or nullptr. The peak of a process that returned no memory is another moment.
const ResidentMoment* find(const ResidentProcess& process, ResidentAt at) {
  const ResidentMoment* found = process.find(at);
  if (found != nullptr || at != ResidentAt::kPeak) return found;
  for (const ResidentMoment& each : process.moments) {
    if (found == nullptr || each.parts.resident_bytes > found->parts.resident_bytes) found = &each;
  }
  return found;
}

/// Returns the sums of all processes at a moment.
Measured<MemoryParts> parts_at(const Processes& processes, const MomentRow& row) {
  MemoryParts sums;
  bool any = false;
  for (const ResidentProcess* process : processes) {
    if (!process->why_not.empty()) return NotAvailable{process->why_not};
    if (const ResidentMoment* const moment = find(*process, row.at)) {
      sums.add(moment->parts);
      any = true;
    } else if (row.at != ResidentAt::kIdle) {
      return NotAvailable{row.why_none};
    }
  }
  return known_if(any, sums, row.why_none);
}

void put(const Processes& processes, Values& values) {
  for (const MomentRow& row : kMoments) {
    const Measured<MemoryParts> parts = parts_at(processes, row);
    for (const auto part : kParts) {
      values[metric_at(row, part)] = parts ? Count((*parts).*part) : NotAvailable{parts.why()};
    }
  }
}

/// Stores the call sites with the most free memory at a moment.
void put_places(const Processes& processes, const MomentRow& row, std::map<Metric, std::string>& places) {
  std::uint64_t most_freed = 0;
  std::uint64_t most_held = 0;
  for (const ResidentProcess* process : processes) {
    const ResidentMoment* const moment = find(*process, row.at);
    if (moment == nullptr) continue;
    if (!moment->freed.empty() && moment->freed.front().free_bytes > most_freed) {
      most_freed = moment->freed.front().free_bytes;
      places[metric_at(row, &MemoryParts::free_bytes)] =
          "last allocated in " + place_words(moment->freed.front().frames);
    }
    const auto holder = std::max_element(moment->holders.begin(), moment->holders.end(),
                                         [](auto& one, auto& other) { return one.held_bytes < other.held_bytes; });
    if (holder != moment->holders.end() && holder->held_bytes > most_held) {
      most_held = holder->held_bytes;
      places[metric_at(row, &MemoryParts::fragmented_bytes)] =
          "on pages with live blocks of " + place_words(holder->frames);
    }
  }
}

}  // namespace

void put_resident(const Resident& resident, CommandRun& run) {
  Processes all;
  std::map<std::string, Processes> named;
  for (const ResidentProcess& process : resident.processes) {
    all.push_back(&process);
    named[file_name(process.executable)].push_back(&process);
  }
  put(all, run.all);
  for (auto& [name, values] : run.processes) put(named[name], values);
  for (const MomentRow& row : kMoments) put_places(all, row, run.resident_places);
}

}  // namespace zerotax::record::runs
