#include "record/outside/fault_places.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "os/clock.h"
#include "os/page.h"
#include "os/process_info.h"

namespace zerotax::record {
namespace {

/// How often the mappings of a process are read again because a fault lies in none of the known ones.
constexpr std::uint64_t kSpaceAgeNs = 1'000'000'000;
/// Samples that wait for the next look at what their process holds.
constexpr std::size_t kMostWaiting = 20'000;

}  // namespace

void FaultPlaces::read_space(pid_t pid) {
  space_read_ns_[pid] = static_cast<std::uint64_t>(monotonic_ns());
  AddressSpace& space = spaces_[pid];
  for (ProcessMapping& mapping : process_mappings(pid)) {
    space.map(region_of(std::move(mapping)));
  }
}

void FaultPlaces::begin(const std::vector<pid_t>& processes) {
  for (const pid_t pid : processes) read_space(pid);
  // Whether they share pages with a process that they forked before is not known; most do not.
}

void FaultPlaces::change(const PerfEvent& event) {
  const auto pid = static_cast<pid_t>(event.pid);
  switch (event.kind) {
    case PerfEvent::Kind::kFork:
      spaces_[pid] = spaces_[static_cast<pid_t>(event.parent)];
      sharing_.insert(pid);
      sharing_.insert(static_cast<pid_t>(event.parent));
      return;
    case PerfEvent::Kind::kExec:
      spaces_[pid] = {};
      space_read_ns_[pid] = event.time_ns;
      sharing_.erase(pid);
      return;
    case PerfEvent::Kind::kExit:
      // The first thread of a process may end before others.
      if (event.pid != event.tid || is_running(pid)) return;
      spaces_.erase(pid);
      space_read_ns_.erase(pid);
      sharing_.erase(pid);
      return;
    default:
      spaces_[pid].map({event.begin, event.end, event.file_offset, event.shared, false, event.name, true,
                        event.kind == PerfEvent::Kind::kMap, event.inode});
  }
}

const Region* FaultPlaces::region(pid_t pid, std::uint64_t address) {
  const Region* found = spaces_[pid].find(address);
  if (found != nullptr || static_cast<std::uint64_t>(monotonic_ns()) < space_read_ns_[pid] + kSpaceAgeNs) return found;
  read_space(pid);
  return spaces_[pid].find(address);
}

void FaultPlaces::fault(const PerfEvent& event, const Stack& sampled, Unwinder& unwinder) {
  const auto pid = static_cast<pid_t>(event.pid);
  const auto times = static_cast<double>(event.count);
  all_.add(times);
  const Region* where = region(pid, event.address);
  if (where != nullptr && where->of_file()) return;
  (sharing_.contains(pid) ? unsure_ : zero_fills_).add(times);
  Populated& place = places_.at(event, sampled, unwinder);
  place.faults.add(times);
  waiting_.push_back({pid, event.time_ns, &place, times});
  if (waiting_.size() >= kMostWaiting) attribute(holdings_.looked_ns());
}

/// While the most that a process ever held rises by so much, so much is fresh, and the rest refilled. A
/// process that nobody looked at refilled nothing.
void FaultPlaces::attribute(std::uint64_t before_ns) {
  const auto end =
      std::partition(waiting_.begin(), waiting_.end(), [&](const Waiting& each) { return each.time_ns <= before_ns; });
  std::stable_sort(waiting_.begin(), end, [](const Waiting& a, const Waiting& b) {
    return std::tie(a.pid, a.time_ns) < std::tie(b.pid, b.time_ns);
  });
  for (auto from = waiting_.begin(); from != end;) {
    const pid_t pid = from->pid;
    const auto to = std::find_if(from, end, [&](const Waiting& each) { return each.pid != pid; });
    const auto growths = holdings_.growths(pid);
    for (auto each = from; growths && each != to;) {
      const auto growth = std::lower_bound(
          growths->begin(), growths->end(), each->time_ns,
          [](const HoldingsWatch::Growth& step, std::uint64_t time_ns) { return step.to_ns < time_ns; });
      const bool grew = growth != growths->end() && growth->from_ns <= each->time_ns;
      const auto last = std::find_if(each, to, [&](const Waiting& later) {
        return growth != growths->end() && later.time_ns > (grew ? growth->to_ns : growth->from_ns);
      });
      double populated = 0;
      for (auto of = each; of != last; ++of) populated += of->faults * static_cast<double>(page_bytes());
      const double fresh = grew && populated > 0 ? std::min(1.0, static_cast<double>(growth->bytes) / populated)
                           : grew                ? 1
                                                 : 0;
      for (; each != last; ++each) each->place->refilled += each->faults * (1 - fresh);
    }
    from = to;
  }
  waiting_.erase(waiting_.begin(), end);
}

std::vector<FaultPlace> FaultPlaces::finish() {
  attribute(UINT64_MAX);
  Symbols symbols;
  std::vector<FaultPlace> found;
  for (const auto& [stack, place] : places_.all()) {
    found.push_back({name_spots(place.spots, symbols), place.seen.faults, place.seen.refilled});
  }
  std::stable_sort(found.begin(), found.end(), [](const FaultPlace& a, const FaultPlace& b) {
    return std::tie(a.refilled, a.faults.faults) > std::tie(b.refilled, b.faults.faults);
  });
  return found;
}

}  // namespace zerotax::record
