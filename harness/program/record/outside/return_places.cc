#include "record/outside/return_places.h"

#include <algorithm>

#include "os/page.h"
#include "os/processor.h"

namespace zerotax::record {

void ReturnPlaces::change(const PerfEvent& event) {
  const auto pid = static_cast<pid_t>(event.pid);
  const bool ends = event.kind == PerfEvent::Kind::kExit && event.pid == event.tid;
  const bool forks = event.kind == PerfEvent::Kind::kFork;
  if (forks || ends || event.kind == PerfEvent::Kind::kExec) heap_end_.erase(pid);
  const auto parent = forks ? heap_end_.find(static_cast<pid_t>(event.parent)) : heap_end_.end();
  if (parent != heap_end_.end()) heap_end_[pid] = parent->second;
}

/// It says where the heap is to end. By how much that is less follows from the last call, or from the mapping: what
/// the kernel reported of it when it grew. `every`: no call was missed.
std::uint64_t ReturnPlaces::brk_bytes(pid_t pid, std::uint64_t end, bool every) {
  if (end == 0) return 0;
  const std::uint64_t asked = page_ceiling(end);
  const auto [last, is_first] = heap_end_.try_emplace(pid, asked);
  const std::uint64_t before = last->second;
  last->second = asked;
  if (!is_first && every) return before > asked ? before - asked : 0;
  const Region* heap = spaces_.region(pid, asked);
  return heap != nullptr && heap->name == "[heap]" ? heap->end - asked : 0;
}

std::uint64_t ReturnPlaces::asked_bytes(const PerfEvent& event) {
  const auto pid = static_cast<pid_t>(event.pid);
  const auto& registers = event.registers;
  if (event.call == ReturnCall::kBrk) return brk_bytes(pid, registers[kFirstArgument], event.count == 1);
  const Region* where = spaces_.region(pid, registers[kFirstArgument]);
  if (where != nullptr && where->of_file()) return 0;
  if (event.call != ReturnCall::kMremap) return page_ceiling(registers[kSecondArgument]);
  const std::uint64_t before = page_ceiling(registers[kSecondArgument]);
  const std::uint64_t after = page_ceiling(registers[kThirdArgument]);
  return before > after ? before - after : 0;
}

void ReturnPlaces::add(const PerfEvent& event, const Stack& stack, Unwinder& unwinder) {
  ++samples_;
  if (!event.has_user) return;
  const std::uint64_t bytes = asked_bytes(event);
  if (bytes == 0) return;
  ReturnPlace& place = places_.at(event, stack, unwinder);
  if (place.samples == 0) place.in = returned_in(stack);
  const auto times = static_cast<double>(event.count);
  const auto each = static_cast<double>(bytes);
  ++place.samples;
  place.calls += times;
  place.bytes += times * each;
  place.seen_bytes += bytes;
  place.variance += times * (times - 1) * each * each;
}

std::vector<ReturnPlace> ReturnPlaces::finish() const {
  Symbols symbols;
  std::vector<ReturnPlace> found;
  for (const auto& [stack, place] : places_.all()) {
    ReturnPlace& named = found.emplace_back(place.seen);
    named.frames = name_spots(place.spots, symbols);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const ReturnPlace& a, const ReturnPlace& b) { return a.bytes > b.bytes; });
  return found;
}

}  // namespace zerotax::record
