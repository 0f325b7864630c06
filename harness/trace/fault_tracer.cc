#include "trace/fault_tracer.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "base/error.h"
#include "os/clock.h"
#include "os/page.h"
#include "trace/time_order.h"

namespace zerotax {
namespace {

constexpr std::chrono::milliseconds kPause{10};
constexpr std::uint64_t kRedrawNs = 250'000'000;
/// Reading the memory of a process holds it up: at most this share of the time is spent so.
constexpr std::uint64_t kMemoryShare = 100;
/// How often the mappings of a process are read anew because a fault lies in none that is known.
constexpr std::uint64_t kSpaceAgeNs = 100'000'000;
/// Larger mappings are reserved, not used; only what faults tell of them is known.
constexpr std::uint64_t kLargestLook = std::uint64_t{64} << 30;

std::uint64_t now_ns() { return static_cast<std::uint64_t>(monotonic_ns()); }

void with_descendants(pid_t pid, std::vector<pid_t>& all) {
  all.push_back(pid);
  for (const pid_t child : process_children(pid)) with_descendants(child, all);
}

std::uint64_t nanoseconds(double s) { return static_cast<std::uint64_t>(s * 1e9); }

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

/// What was one mapping that grew is told as one.
std::vector<MappingFaults> joined(std::vector<MappingFaults> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const MappingFaults& one, const MappingFaults& other) { return one.begin < other.begin; });
  std::vector<MappingFaults> whole;
  for (MappingFaults& part : parts) {
    const auto same = std::find_if(whole.begin(), whole.end(), [&](const MappingFaults& other) {
      return other.name == part.name && part.begin < other.end;
    });
    if (same == whole.end()) {
      whole.push_back(std::move(part));
      continue;
    }
    same->end = std::max(same->end, part.end);
    same->counts.add(part.counts);
  }
  return whole;
}

}  // namespace

FaultTracer::FaultTracer(FaultTracerOptions options)
    : options_(std::move(options)),
      interval_ns_(nanoseconds(options_.interval_s)),
      events_(std::make_unique<FaultEvents>()) {
  thread_ = std::thread([this] { work(); });
}

FaultTracer::FaultTracer(FaultTracerOptions options, pid_t pid)
    : options_(std::move(options)), interval_ns_(nanoseconds(options_.interval_s)) {
  std::vector<pid_t> pids;
  with_descendants(pid, pids);
  std::vector<pid_t> threads;
  for (const pid_t each : pids) {
    for (const pid_t thread : process_threads(each)) threads.push_back(thread);
  }
  start_ns_ = now_ns();
  events_ = std::make_unique<FaultEvents>(threads);
  root_ = pid;
  for (const pid_t each : pids) {
    Process& process = start(each, each == pid ? 0 : pid);
    process.told.name = process_name(each);
    read_space(process);
    if (events_->method() == FaultEvents::Method::kSoftware) look(each, true);
  }
  thread_ = std::thread([this] { work(); });
}

FaultTracer::~FaultTracer() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

void FaultTracer::work() {
  std::uint64_t before = 0;
  std::uint64_t drawn = 0;
  while (!done_) {
    const std::uint64_t now = now_ns();
    events_->read(pending_);
    process(before);
    close_intervals(before);
    if (options_.while_running && options_.tell && root_ != 0 && now - drawn >= kRedrawNs) {
      drawn = now;
      options_.tell(current(before), false);
    }
    before = now;
    std::this_thread::sleep_for(kPause);
  }
  const std::uint64_t end = now_ns();
  events_->read(pending_);
  process(UINT64_MAX);
  if (root_ == 0) return;
  close_intervals(end);
  interval_ = current(end);
  intervals_.push_back(interval_);
  if (options_.tell) options_.tell(interval_, true);
}

void FaultTracer::process(std::uint64_t before_ns) {
  apply_in_order(pending_, before_ns, [&](const FaultEvent& event) {
    if (root_ != 0) close_intervals(event.time_ns);
    apply(event);
  });
}

FaultInterval FaultTracer::current(std::uint64_t now) const {
  FaultInterval interval = interval_;
  interval.from_s = static_cast<double>(intervals_.size()) * options_.interval_s;
  interval.to_s = std::max(interval.from_s, seconds(now > start_ns_ ? now - start_ns_ : 0));
  return interval;
}

void FaultTracer::close_intervals(std::uint64_t now) {
  while (root_ != 0 && now >= start_ns_ + (intervals_.size() + 1) * interval_ns_) {
    interval_.from_s = static_cast<double>(intervals_.size()) * options_.interval_s;
    interval_.to_s = interval_.from_s + options_.interval_s;
    measure_memory(interval_);
    intervals_.push_back(std::move(interval_));
    interval_ = {};
    if (options_.tell) options_.tell(intervals_.back(), true);
  }
}

void FaultTracer::measure_memory(FaultInterval& interval) {
  const std::uint64_t begin = now_ns();
  const bool pss = begin >= memory_due_ns_;
  for (auto& [pid, process] : processes_) {
    if (!process.alive) continue;
    if (pss && events_->method() == FaultEvents::Method::kSoftware) look(pid, false);
    if (!counted(process)) continue;
    const ProcessMemory memory = process_memory(pid, pss);
    if (!memory.rss) continue;
    FaultInterval::Process& entry = interval.processes[pid];
    entry.memory = memory;
    entry.child = process.told.parent != 0;
    process.told.memory = memory;
  }
  if (!pss) return;
  const std::uint64_t end = now_ns();
  memory_due_ns_ = end + (end - begin) * kMemoryShare;
}

bool FaultTracer::counted(const Process& process) const {
  if (options_.first_child && process.told.pid != first_child_) return false;
  return process.told.name.starts_with(options_.name_prefix);
}

FaultTracer::Process& FaultTracer::start(pid_t pid, pid_t parent) {
  const auto known = processes_.find(pid);
  if (known != processes_.end()) {
    Process& old = known->second;
    for (auto& [key, mapping] : old.mappings) old.told.mappings.push_back(std::move(mapping));
    past_.push_back(std::move(old.told));
    processes_.erase(known);
    std::erase(order_, pid);
  }
  order_.push_back(pid);
  Process& process = processes_[pid];
  process.told.pid = pid;
  process.told.parent = parent;
  return process;
}

void FaultTracer::read_space(Process& process) {
  process.space_read_ns = now_ns();
  for (ProcessMapping& mapping : process_mappings(process.told.pid)) {
    process.space.map({mapping.begin, mapping.end, mapping.file_offset, mapping.shared, false, std::move(mapping.name),
                       mapping.writable});
  }
}

const Region* FaultTracer::find(Process& process, std::uint64_t address) {
  const Region* region = process.space.find(address);
  // The kernel does not tell of every change (mremap), nor of what was there before us.
  if (region == nullptr && process.alive && now_ns() - process.space_read_ns > kSpaceAgeNs) {
    read_space(process);
    region = process.space.find(address);
  }
  return region;
}

void FaultTracer::apply(const FaultEvent& event) {
  applied_ns_ = event.time_ns;
  switch (event.kind) {
    case FaultEvent::Kind::kExec: {
      if (root_ == 0) {
        root_ = event.pid;
        start_ns_ = event.time_ns;
      }
      const auto known = processes_.find(event.pid);
      Process& process = known != processes_.end() ? known->second : start(event.pid, 0);
      process.told.name = event.name;
      process.space = {};
      sharing_.end(event.pid);
      pagemaps_.forget(event.pid);
      return;
    }
    case FaultEvent::Kind::kFork: {
      const auto parent = processes_.find(event.parent);
      if (parent == processes_.end()) return;
      if (first_child_ == 0 && event.parent == root_) first_child_ = event.pid;
      std::string name = parent->second.told.name;
      AddressSpace space = parent->second.space;
      Process& process = start(event.pid, event.parent);
      process.told.name = std::move(name);
      process.space = std::move(space);
      if (events_->method() == FaultEvents::Method::kSoftware) {
        look(event.parent, false);
        sharing_.fork(event.parent, event.pid);
      }
      return;
    }
    default:
      break;
  }
  if (const auto fault = pairing_.apply(event)) count(*fault);
  const auto known = processes_.find(event.pid);
  if (known == processes_.end()) return;
  if (event.kind == FaultEvent::Kind::kName) known->second.told.name = event.name;
  if (event.kind == FaultEvent::Kind::kExit) {
    known->second.alive = false;
    sharing_.end(event.pid);
    pagemaps_.forget(event.pid);
  }
  if (event.kind == FaultEvent::Kind::kMap) {
    known->second.space.map(
        {event.begin, event.end, event.file_offset, event.shared, event.hugetlb, event.name, event.writable});
  }
}

void FaultTracer::count(const Fault& fault) {
  const auto known = processes_.find(fault.pid);
  if (known == processes_.end()) return;
  Process& process = known->second;
  const Region* region = find(process, fault.address);
  const FaultClass kind =
      events_->method() == FaultEvents::Method::kTracepoints ? classify(fault, region) : guess(fault, region);
  if (!counted(process)) return;
  if (options_.each) options_.each(fault, kind);
  process.told.counts.add(fault, kind);
  FaultInterval::Process& in_interval = interval_.processes[fault.pid];
  in_interval.counts.add(fault, kind);
  in_interval.child = process.told.parent != 0;
  const Region where = region != nullptr ? *region : Region{0, 0, 0, false, false, "not known"};
  MappingFaults& mapping = process.mappings[{where.name, where.begin}];
  mapping.begin = where.begin;
  mapping.end = std::max(mapping.end, where.end);
  mapping.name = where.name;
  mapping.counts.add(fault, kind);
  sites_.add(fault, kind, fault.in_kernel() ? nullptr : find(process, fault.instruction));
}

FaultClass FaultTracer::guess(const Fault& fault, const Region* region) {
  if (region == nullptr || region->hugetlb || region->name == "[vvar]") return FaultClass::kOther;
  const std::uint64_t page = fault.address / kPageBytes;
  if (!region->of_file()) return sharing_.anonymous_fault(fault.pid, page, fault.begin_ns);
  if (region->shared || !region->writable) return FaultClass::kFile;
  const auto now = pagemaps_.entry(fault.pid, page);
  return sharing_.file_fault(fault.pid, page, fault.begin_ns, now && now->populated() && !now->of_file());
}

/// Learns of the private pages that a process has though no fault told of them, and that it gave back. Of a
/// process that has just been `joined` the kernel says which are shared: with its parent, or one that is not watched.
void FaultTracer::look(pid_t pid, bool joined) {
  const std::uint64_t now = now_ns();
  // Those whose fault is told of, but not yet counted, come by that.
  std::unordered_set<std::uint64_t> to_come;
  for (const FaultEvent& event : pending_) {
    if (event.kind == FaultEvent::Kind::kFault && event.pid == pid && event.time_ns >= applied_ns_) {
      to_come.insert(event.address / kPageBytes);
    }
  }
  std::unordered_set<std::uint64_t> populated;
  bool complete = true;
  std::vector<std::pair<std::uint64_t, bool>> pages;
  for (const auto& [begin, region] : processes_.at(pid).space.regions()) {
    if (region.shared || !region.writable) continue;
    if (region.end - region.begin > kLargestLook) {
      complete = false;
      continue;
    }
    complete = pagemaps_.for_each(pid, {region.begin, region.end}, [&](std::uint64_t page, PagemapEntry entry) {
      if (entry.of_file()) return;
      populated.insert(page);
      if (!to_come.contains(page)) pages.emplace_back(page, joined && !entry.exclusive());
    }) && complete;
  }
  if (complete) sharing_.keep_only(pid, populated);
  const pid_t parent = processes_.at(pid).told.parent;
  for (const auto& [page, shared] : pages) sharing_.found(pid, page, now, shared, parent);
}

FaultData FaultTracer::finish() {
  done_ = true;
  thread_.join();
  FaultData data;
  data.processes = std::move(past_);
  for (const pid_t pid : order_) {
    Process& process = processes_.at(pid);
    for (auto& [key, mapping] : process.mappings) process.told.mappings.push_back(std::move(mapping));
    if (counted(process) || process.told.counts.all() > 0) data.processes.push_back(std::move(process.told));
  }
  for (TracedProcess& process : data.processes) process.mappings = joined(std::move(process.mappings));
  data.intervals = std::move(intervals_);
  data.code = sites_.by_function(static_cast<std::uint32_t>(root_));
  data.lost = events_->lost();
  data.every_fault = events_->method() == FaultEvents::Method::kTracepoints;
  return data;
}

}  // namespace zerotax
