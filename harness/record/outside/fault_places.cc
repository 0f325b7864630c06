#include "record/outside/fault_places.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "os/clock.h"
#include "os/elf_file.h"
#include "os/page.h"
#include "os/process_file.h"
#include "os/process_info.h"
#include "record/outside/functions.h"

namespace zerotax::record {
namespace {

/// How often the mappings of a process are read again because a fault lies in none of the known ones.
constexpr std::uint64_t kSpaceAgeNs = 1'000'000'000;
/// Samples that wait for the next look at what their process holds.
constexpr std::size_t kMostWaiting = 20'000;
constexpr std::size_t kMostPlaces = 50'000;
constexpr std::size_t kMostFrames = 24;

/// Without the program's name, and the functions inside that work for whoever called them.
Stack place_of(const Stack& stack) {
  Stack place(stack.begin() + (stack.empty() ? 0 : 1), stack.end());
  while (place.size() > 1 && works_for_caller(place.back().function)) place.pop_back();
  if (place.size() > kMostFrames) place.erase(place.begin(), place.end() - kMostFrames);
  return place;
}

/// A function that has no call frame information, as musl's memset, has pushed nothing if it works for its caller: it
/// returns to the word on top of the stack.
Stack through_caller(const PerfEvent& event, Stack stack, Unwinder& unwinder) {
  constexpr std::size_t kStackPointer = 7;
  constexpr std::size_t kProgramCounter = 16;
  std::uint64_t back = 0;
  if (stack.size() != 2 || !works_for_caller(stack.back().function) || event.stack.size() < sizeof back) return stack;
  std::memcpy(&back, event.stack.data(), sizeof back);
  const Unwinder::Mapping* mapping = unwinder.mapping_of(back);
  if (mapping == nullptr || !mapping->name.starts_with('/')) return stack;
  PerfEvent caller = event;
  caller.registers[kProgramCounter] = back;
  caller.registers[kStackPointer] += sizeof back;
  caller.stack.erase(caller.stack.begin(), caller.stack.begin() + sizeof back);
  Stack all{stack.front()};
  for (Frame& frame : unwinder.frames(caller)) all.push_back(std::move(frame));
  all.push_back(stack.back());
  return all;
}

bool is_address(const std::string& name) { return name.starts_with("0x"); }

}  // namespace

void FaultPlaces::read_space(pid_t pid) {
  space_read_ns_[pid] = static_cast<std::uint64_t>(monotonic_ns());
  AddressSpace& space = spaces_[pid];
  for (ProcessMapping& mapping : process_mappings(pid)) {
    space.map({mapping.begin, mapping.end, mapping.file_offset, mapping.shared, false, std::move(mapping.name),
               mapping.writable, mapping.executable, mapping.inode});
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
      if (event.pid != event.tid) return;
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

/// `caller`: its address is the one that the function inside returns to.
FaultPlaces::Spot FaultPlaces::spot(const Frame& frame, bool caller, pid_t pid, Unwinder& unwinder) {
  Spot spot{frame, "", "", 0};
  const std::uint64_t address = frame.address - (caller && frame.address != 0 ? 1 : 0);
  const Unwinder::Mapping* mapping = unwinder.mapping_of(address);
  if (frame.script != Frame::Script::kNone || mapping == nullptr || !mapping->name.starts_with('/')) return spot;
  spot.name = mapping->name;
  spot.path = !mapping->path.empty() ? mapping->path
                                     : process_file(pid, mapping->begin, mapping->end, mapping->name, mapping->inode);
  const auto [bias, is_new] = biases_.try_emplace({spot.path, mapping->begin});
  if (is_new) {
    bias->second = ElfFile(spot.path).load_bias(mapping->begin, mapping->file_offset).value_or(mapping->begin);
  }
  spot.address = address - bias->second;
  return spot;
}

void FaultPlaces::fault(const PerfEvent& event, const Stack& sampled, Unwinder& unwinder) {
  const auto pid = static_cast<pid_t>(event.pid);
  const auto times = static_cast<double>(event.count);
  all_.add(times);
  const Region* where = region(pid, event.address);
  if (where != nullptr && where->of_file()) return;
  (sharing_.contains(pid) ? unsure_ : zero_fills_).add(times);
  const Stack stack = through_caller(event, sampled, unwinder);
  Stack key = place_of(stack);
  if (places_.size() >= kMostPlaces && !places_.contains(key)) key = {{"(other places)", ""}};
  const auto [entry, is_new] = places_.try_emplace(std::move(key));
  Place& place = entry->second;
  if (is_new) {
    const Stack& frames = entry->first;
    const bool inner = stack.size() == frames.size() + 1;
    for (std::size_t i = frames.size(); i-- > 0;) {
      place.spots.push_back(spot(frames[i], !inner || i + 1 != frames.size(), pid, unwinder));
    }
  }
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
      for (auto of = each; of != last; ++of) populated += of->faults * static_cast<double>(kPageBytes);
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
  for (const auto& [stack, place] : places_) {
    FaultPlace& named = found.emplace_back();
    named.faults = place.faults;
    named.refilled = place.refilled;
    for (const Spot& spot : place.spots) {
      if (spot.frame.script != Frame::Script::kNone) {
        named.frames.push_back(frame_of_script({spot.frame.function, spot.frame.module, 0}));
        continue;
      }
      NamedFrame frame = symbols.frame(spot.path, {}, spot.address);
      if (!spot.name.empty()) frame.module = spot.name;
      if (!is_address(spot.frame.function)) frame.function = spot.frame.function;
      named.frames.push_back(std::move(frame));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const FaultPlace& a, const FaultPlace& b) {
    return std::tie(a.refilled, a.faults.faults) > std::tie(b.refilled, b.faults.faults);
  });
  return found;
}

}  // namespace zerotax::record
