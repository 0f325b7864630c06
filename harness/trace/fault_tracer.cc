#include "trace/fault_tracer.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "base/error.h"
#include "os/clock.h"
#include "os/page.h"

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
constexpr const char* kKernel = "kernel";

std::uint64_t now_ns() { return static_cast<std::uint64_t>(monotonic_ns()); }

void with_descendants(pid_t pid, std::vector<pid_t>& all) {
  all.push_back(pid);
  for (const pid_t child : process_children(pid)) with_descendants(child, all);
}

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
    : options_(std::move(options)), events_(std::make_unique<FaultEvents>()) {
  interval_ns_ = static_cast<std::uint64_t>(options_.interval_s * 1e9);
  thread_ = std::thread([this] { work(); });
}

FaultTracer::FaultTracer(FaultTracerOptions options, pid_t pid) : options_(std::move(options)) {
  interval_ns_ = static_cast<std::uint64_t>(options_.interval_s * 1e9);
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
    // Each CPU has a buffer of its own, and they are read one after the other: what is older than the reading before
    // this one is complete.
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
  std::stable_sort(pending_.begin(), pending_.end(),
                   [](const FaultEvent& one, const FaultEvent& other) { return one.time_ns < other.time_ns; });
  const auto end =
      std::find_if(pending_.begin(), pending_.end(), [&](const FaultEvent& e) { return e.time_ns >= before_ns; });
  std::for_each(pending_.begin(), end, [&](const FaultEvent& event) {
    if (root_ != 0) close_intervals(event.time_ns);
    apply(event);
  });
  pending_.erase(pending_.begin(), end);
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
  if (event.kind == FaultEvent::Kind::kFault) {
    Fault fault;
    fault.begin_ns = event.time_ns;
    fault.end_ns = event.time_ns;
    fault.pid = event.pid;
    fault.tid = event.tid;
    fault.address = event.address;
    fault.instruction = event.instruction;
    fault.error_code = 7;  // a write to a page that was there, by its size in bytes: one page
    count(fault);
  } else if (const auto paired = pairing_.apply(event)) {
    count(*paired);
  }
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
  count_code(process, fault, kind);
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

void FaultTracer::count_code(Process& process, const Fault& fault, FaultClass kind) {
  if (fault.in_kernel()) {
    sites_[{kKernel, fault.instruction}].add(fault, kind);
    return;
  }
  const Region* code = find(process, fault.instruction);
  if (code == nullptr || code->name.empty()) {
    sites_[{"", fault.instruction}].add(fault, kind);
    return;
  }
  // An offset, for each process has the file elsewhere.
  files_.try_emplace(code->name, Unwinder::Mapping{code->begin, code->end, code->file_offset, code->name});
  sites_[{code->name, fault.instruction - code->begin + code->file_offset}].add(fault, kind);
}

std::vector<CodeFaults> FaultTracer::resolve_code() {
  const KernelSymbols kernel;
  std::map<std::string, Unwinder> unwinders;
  std::map<Frame, FaultCounts> by_frame;
  for (const auto& [site, counts] : sites_) {
    Frame frame;
    if (site.file == kKernel) {
      frame = {kernel.name(site.offset), kKernel};
    } else if (const auto file = files_.find(site.file); file != files_.end()) {
      const auto [unwinder, is_new] = unwinders.try_emplace(site.file, static_cast<std::uint32_t>(root_));
      if (is_new) unwinder->second.map(file->second);
      frame = unwinder->second.name(file->second.begin + site.offset - file->second.file_offset);
    } else {
      frame = {"code that no file holds", ""};
    }
    by_frame[frame].add(counts);
  }
  std::vector<CodeFaults> code;
  code.reserve(by_frame.size());
  for (const auto& [frame, counts] : by_frame) code.push_back({frame, counts});
  std::stable_sort(code.begin(), code.end(), [](const CodeFaults& one, const CodeFaults& other) {
    return one.counts.copies > other.counts.copies;
  });
  return code;
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
  data.code = resolve_code();
  data.lost = events_->lost();
  data.every_fault = events_->method() == FaultEvents::Method::kTracepoints;
  return data;
}

}  // namespace zerotax
