// Reads the memory of the traced processes: its size, its shared part, and the words that copying stores hit.

#include <algorithm>
#include <vector>

#include "observe/fault_tracer.h"
#include "os/clock.h"
#include "os/process_info.h"
#include "os/thread_look.h"

namespace zerotax {
namespace {

/// Reading the memory of a process delays that process, so the CPU time of all readings together is at most
/// 1/kMemoryShare of the elapsed time.
constexpr std::uint64_t kMemoryShare = 100;
/// Minimum time between two readings of a parent's private memory.
constexpr std::uint64_t kInheritanceAgeNs = 10'000'000;

std::uint64_t reading_time_ns() { return static_cast<std::uint64_t>(monotonic_ns()); }

}  // namespace

void FaultTracer::measure_memory(FaultInterval& interval) {
  const std::int64_t cpu_ns = thread_cpu_ns();
  const bool pss = reading_time_ns() >= memory_due_ns_;
  const auto sharers = std::count_if(processes_.begin(), processes_.end(),
                                     [](const auto& each) { return each.second.alive && each.second.shares; });
  for (auto& [pid, process] : processes_) {
    if (!process.alive) continue;
    if (pss && recording_ && events_->method() == FaultEvents::Method::kSoftware) look(pid, Look::kKnown);
    if (!shown(process)) continue;
    const ProcessMemory memory = process_memory(pid, pss);
    if (!memory.rss) continue;
    // The last of the processes that shared pages is the only owner of its copies.
    if (sharers == 1) process.sharing.copied = 0;
    process.sharing.shared = pss ? shared_bytes(process) : std::nullopt;
    FaultInterval::Process& entry = interval.processes[pid];
    entry.memory = memory;
    entry.child = process.told.parent != 0;
    entry.name = process.told.name;
    entry.sharing = process.sharing;
    process.told.memory = memory;
  }
  if (!pss) return;
  interval.whole = knows_all_processes();
  sharing_read_ns_ = reading_time_ns();
  memory_due_ns_ = sharing_read_ns_ + static_cast<std::uint64_t>(thread_cpu_ns() - cpu_ns) * kMemoryShare;
  sharing_interval_ = intervals_.size();
}

/// Counts the copies and zero-fills until the moment at which shared memory was read, once all events until then are
/// applied. Memory is read some milliseconds after the end of an interval.
void FaultTracer::settle_sharing(std::uint64_t now_ns) {
  if (sharing_read_ns_ == 0 || now_ns <= sharing_read_ns_ || sharing_interval_ >= intervals_.size()) return;
  sharing_read_ns_ = 0;
  for (auto& [pid, entry] : intervals_[sharing_interval_].processes) {
    const auto process = processes_.find(pid);
    if (process == processes_.end()) continue;
    entry.sharing.copied = process->second.sharing.copied;
    entry.sharing.zeroed = process->second.sharing.zeroed;
  }
}

/// Returns whether every running descendant is known. The events of the latest forks may not be applied yet.
bool FaultTracer::knows_all_processes() const {
  const std::vector<pid_t> tree = process_tree(root_);
  return std::all_of(tree.begin(), tree.end(), [&](pid_t pid) {
    const auto known = processes_.find(pid);
    return (known != processes_.end() && known->second.alive) || !is_running(pid);
  });
}

/// Returns the bytes of private pages in memory that other processes map, too; nothing if some pages cannot be
/// examined.
std::optional<std::uint64_t> FaultTracer::shared_bytes(const Process& process) {
  if (!process.shares) return 0;
  std::uint64_t pages = 0;
  for (const ProcessMapping& mapping : process_mappings(process.told.pid)) {
    // The kernel's own mappings, such as [vvar], are no private memory.
    if (mapping.shared || mapping.name.starts_with("[v")) continue;
    const auto found = pagemaps_.shared_pages(process.told.pid, {mapping.begin, mapping.end});
    if (!found) return std::nullopt;
    pages += *found;
  }
  return pages * page_bytes();
}

/// Notes how much private memory a child has got from its parent. The event of the fork is read a few milliseconds
/// after the fork.
void FaultTracer::note_inheritance(Process& parent, Process& child) {
  const std::uint64_t now = reading_time_ns();
  if (parent.private_read_ns == 0 || now > parent.private_read_ns + kInheritanceAgeNs) {
    const std::optional<ResidentParts> parts = resident_parts(parent.told.pid);
    parent.private_bytes = parts ? parts->anonymous : 0;
    parent.private_read_ns = now;
  }
  child.sharing = {};
  if (parent.private_bytes != 0) child.sharing.inherited = parent.private_bytes;
}

void FaultTracer::note_sharing(Process& process, const Fault& fault, FaultClass kind, std::uint64_t times) {
  if (!process.shares) return;
  if (kind == FaultClass::kCopy) process.sharing.copied += times * fault.copied_bytes();
  if (kind == FaultClass::kZeroFill) process.sharing.zeroed += times * fault.bytes();
}

/// Returns which memory a copying store hit. A structure of CPython is searched in the parent's memory, which still
/// contains the page as it was before the store. If the parent's memory cannot be read, the writer's own is read.
StoreTarget FaultTracer::target_of(const Process& process, const Fault& fault, const Region* region) {
  if (fault.in_kernel()) return StoreTarget::kInSystemCall;
  if (region != nullptr && region->name == "[stack]") return StoreTarget::kStack;
  if (process.space.has_python()) {
    const pid_t own = process.told.pid;
    const auto parent = process.shares ? processes_.find(process.told.parent) : processes_.end();
    const pid_t first = parent != processes_.end() && parent->second.alive ? parent->first : own;
    const auto read = [&](std::uint64_t address, std::size_t bytes) {
      std::vector<unsigned char> memory = read_process_memory(first, address, bytes);
      return memory.empty() && first != own ? read_process_memory(own, address, bytes) : memory;
    };
    switch (python_[own].at(fault.address, fault.instruction, read)) {
      case PythonWord::kReferenceCount:
        return StoreTarget::kReferenceCount;
      case PythonWord::kCollectorHeader:
        return StoreTarget::kCollectorHeader;
      case PythonWord::kPoolHeader:
        return StoreTarget::kPoolHeader;
      case PythonWord::kOther:
        break;
    }
  }
  return region != nullptr && region->of_file() ? StoreTarget::kFile : StoreTarget::kOther;
}

}  // namespace zerotax
