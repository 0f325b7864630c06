#include "record/outside/memory_places.h"

#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "os/clock.h"
#include "os/mappings.h"
#include "os/page.h"
#include "os/process_info.h"
#include "os/processor.h"
#include "os/regular_file.h"
#include "os/thread_look.h"

namespace zerotax::record {
namespace {

/// Minimum time between two readings of a process's mappings, in nanoseconds. The mappings are read again if a fault
/// lies in no known mapping.
constexpr std::uint64_t kSpaceAgeNs = 1'000'000'000;
/// Maximum number of fault samples that wait for the next memory sample of their process.
constexpr std::size_t kMostWaiting = 20'000;
constexpr std::size_t kMostCode = 20'000;

/// Whether a fault at this place may allocate a new page of shared memory, which the kernel zeroes (mm/shmem.c). File
/// systems in memory have no device, so their major number is 0.
bool is_shared_memory(const Region& region) {
  return is_shared_memory_name(region.name) || (region.shared && major(region.device) == 0);
}

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
  // Processes that already run are added to `sharing_` only at their next fork. They may share pages with earlier
  // children, but most do not.
}

void FaultPlaces::change(const PerfEvent& event) {
  const auto pid = static_cast<pid_t>(event.pid);
  switch (event.kind) {
    case PerfEvent::Kind::kFork:
      forked_ = true;
      spaces_[pid] = spaces_[static_cast<pid_t>(event.parent)];
      sharing_.insert(pid);
      sharing_.insert(static_cast<pid_t>(event.parent));
      return;
    case PerfEvent::Kind::kExec:
      code_.clear();
      spaces_[pid] = {};
      space_read_ns_[pid] = event.time_ns;
      sharing_.erase(pid);
      return;
    case PerfEvent::Kind::kExit:
      // If the first thread ends before other threads, the process still runs.
      if (event.pid != event.tid || is_running(pid)) return;
      spaces_.erase(pid);
      space_read_ns_.erase(pid);
      sharing_.erase(pid);
      return;
    default:
      spaces_[pid].map({event.begin, event.end, event.file_offset, event.shared, false, event.name, true,
                        event.kind == PerfEvent::Kind::kMap, event.inode, false, event.device});
      if (event.kind == PerfEvent::Kind::kMap) code_.clear();
  }
}

const Region* FaultPlaces::region(pid_t pid, std::uint64_t address) {
  const Region* found = spaces_[pid].find(address);
  if (found != nullptr || static_cast<std::uint64_t>(monotonic_ns()) < space_read_ns_[pid] + kSpaceAgeNs) return found;
  read_space(pid);
  return spaces_[pid].find(address);
}

/// Code is read from its file, which outlives the process. Code outside files may change, so it is not kept.
std::string FaultPlaces::code_at(pid_t pid, std::uint64_t address, const Unwinder& unwinder) {
  const Unwinder::Mapping* mapping = unwinder.mapping_of(address);
  if (mapping == nullptr || !mapping->name.starts_with('/')) {
    const auto code = read_process_memory(pid, address, kMostCodeBytes);
    return {code.begin(), code.end()};
  }
  if (code_.size() >= kMostCode) code_.clear();
  const auto [known, is_new] = code_.try_emplace({pid, address});
  std::string& code = known->second;
  if (!is_new) return code;
  const MappedProcessFile mapped{mapping->begin, mapping->end, mapping->name, mapping->inode, mapping->device};
  const std::string path = !mapping->path.empty() ? mapping->path : files_.find(pid, mapped);
  const UniqueFd file = open_program_file(path);
  code.resize(kMostCodeBytes);
  const auto offset = static_cast<off_t>(mapping->file_offset + (address - mapping->begin));
  const ssize_t got = file ? ::pread(file.get(), code.data(), code.size(), offset) : 0;
  code.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return code;
}

/// Returns the access of the instruction that faulted; kUnknown if kernel code took the fault.
Access FaultPlaces::access_of_fault(const PerfEvent& event, const Unwinder& unwinder) {
  if (!event.has_user || !event.kernel.empty()) return Access::kUnknown;
  const std::string code = code_at(static_cast<pid_t>(event.pid), event.registers[kProgramCounter], unwinder);
  return access_of(code, event.registers, event.address);
}

void FaultPlaces::fault(const PerfEvent& event, const Stack& sampled, Unwinder& unwinder) {
  const auto pid = static_cast<pid_t>(event.pid);
  const auto times = static_cast<double>(event.count);
  all_.add(times);
  const Region* where = region(pid, event.address);
  if (where != nullptr && is_shared_memory(*where)) shared_.add(times);
  if (where != nullptr && where->shared) return;
  const Access access = access_of_fault(event, unwinder);
  if (access == Access::kRead) return;
  if (where != nullptr && where->of_file()) return copied_.add(times);
  const bool shares = sharing_.contains(pid);
  (shares ? unsure_ : access == Access::kUnknown ? unread_ : zero_fills_).add(times);
  Populated& place = places_.at(event, sampled, unwinder);
  place.faults.add(times);
  waiting_.push_back({pid, event.time_ns, &place, times});
  if (waiting_.size() >= kMostWaiting) attribute(holdings_.looked_ns());
}

/// Divides the bytes populated before a time into fresh and refilled bytes. If a process's peak rises by a number of
/// bytes, that many bytes are fresh; the rest are refilled. A process that was never sampled has no refilled bytes.
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

void ReturnPlaces::change(const PerfEvent& event) {
  const auto pid = static_cast<pid_t>(event.pid);
  const bool ends = event.kind == PerfEvent::Kind::kExit && event.pid == event.tid;
  const bool forks = event.kind == PerfEvent::Kind::kFork;
  if (forks || ends || event.kind == PerfEvent::Kind::kExec) heap_end_.erase(pid);
  const auto parent = forks ? heap_end_.find(static_cast<pid_t>(event.parent)) : heap_end_.end();
  if (parent != heap_end_.end()) heap_end_[pid] = parent->second;
}

/// Returns the bytes that a call to brk returns to the kernel. The argument of brk is the new end of the heap. The old
/// end is known from the last call, or from the mapping that the kernel reported when the heap grew. `every`: no call
/// was missed.
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
