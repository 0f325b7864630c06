#include "observe/fault_tracer.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/printable.h"
#include "observe/file_reader.h"
#include "os/clock.h"
#include "os/perf_streams.h"
#include "os/process_info.h"

namespace zerotax {
namespace {

constexpr std::uint64_t kRedrawNs = 250'000'000;
/// Minimum time between two readings of a process's mappings. The mappings are read again if a fault's address is in
/// none of them.
constexpr std::uint64_t kSpaceAgeNs = 100'000'000;

std::uint64_t now_ns() { return static_cast<std::uint64_t>(monotonic_ns()); }

std::uint64_t nanoseconds(double s) { return static_cast<std::uint64_t>(s * 1e9); }

FaultEvents::Stacks stacks_of(const FaultTracerOptions& options) {
  return options.stacks ? FaultEvents::Stacks::kTaken : FaultEvents::Stacks::kNone;
}

/// Starts FileReader's process before tracing, because processes that this thread starts later may be traced with the
/// program.
FaultTracerOptions with_reader(FaultTracerOptions options) {
  FileReader::shared().start();
  return options;
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

/// Converts a time of the monotonic clock to seconds since 1970, by the current setting of the wall clock.
double clock_time(std::uint64_t monotonic) {
  const auto since = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
  return since.count() - seconds(now_ns()) + seconds(monotonic);
}

}  // namespace

FaultTracer::FaultTracer(FaultTracerOptions options)
    : options_(with_reader(std::move(options))),
      interval_ns_(nanoseconds(options_.interval_s)),
      events_(std::make_unique<FaultEvents>(options_.buffer_bytes, stacks_of(options_))),
      budget_(FaultBudget::chosen(now_ns())),
      scripts_(options_.stacks) {
  begin_log();
  thread_ = Worker([this] { work(); });
}

FaultTracer::FaultTracer(FaultTracerOptions options, pid_t pid)
    : options_(with_reader(std::move(options))),
      interval_ns_(nanoseconds(options_.interval_s)),
      budget_(FaultBudget::chosen(now_ns())),
      scripts_(options_.stacks) {
  const std::vector<pid_t> pids = process_tree(pid);
  start_ns_ = now_ns();
  events_ = std::make_unique<FaultEvents>(pids, options_.buffer_bytes, stacks_of(options_));
  root_ = pid;
  for (const pid_t each : pids) {
    Process& process = start(each, each == pid ? 0 : pid);
    process.told.name = process_name(each);
    process.shares = true;
    read_space(process, false);
    if (events_->method() == FaultEvents::Method::kSoftware) look(each, Look::kJoined);
  }
  begin_log();
  thread_ = Worker([this] { work(); });
}

void FaultTracer::begin_log() {
  if (options_.faults_file.empty()) return;
  log_ = std::make_unique<FaultLog>(options_.faults_file, events_->method() == FaultEvents::Method::kTracepoints);
}

FaultTracer::~FaultTracer() {
  done_ = true;
  thread_.wait();
}

void FaultTracer::work() {
  std::uint64_t before = 0;
  std::uint64_t drawn = 0;
  while (!done_) {
    const std::uint64_t now = now_ns();
    const std::size_t known = pending_.size();
    events_->read(pending_);
    notice_execs(known);
    if (options_.sample) spend(known);
    if (!waits_for_more()) {
      process_slice(before);
      close_intervals(before);
    }
    if (options_.while_running && options_.tell && root_ != 0 && now - drawn >= kRedrawNs) {
      drawn = now;
      options_.tell(current(before), false);
    }
    before = now;
    const auto next = std::chrono::steady_clock::now() + pause();
    if (log_) log_->flush(next);
    events_->wait_until(next);
  }
  if (options_.sample) events_->record(false);
  const std::uint64_t end = now_ns();
  const std::size_t known = pending_.size();
  events_->read(pending_);
  notice_execs(known);
  process_slice(UINT64_MAX);
  if (root_ == 0) return;
  settle();
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
  interval.to_s = std::max(interval.from_s, since_start(now));
  interval.ended_at = clock_time(start_ns_) + interval.to_s;
  return interval;
}

void FaultTracer::close_intervals(std::uint64_t now) {
  settle_sharing(now);
  while (root_ != 0 && now >= start_ns_ + (intervals_.size() + 1) * interval_ns_) {
    interval_.from_s = static_cast<double>(intervals_.size()) * options_.interval_s;
    interval_.to_s = interval_.from_s + options_.interval_s;
    interval_.ended_at = clock_time(start_ns_) + interval_.to_s;
    measure_memory(interval_);
    intervals_.push_back(std::move(interval_));
    interval_ = {};
    interval_.sampled = sampling_.has_value();
    if (options_.tell) options_.tell(intervals_.back(), true);
  }
}

bool FaultTracer::counted(const Process& process) const {
  if (options_.first_child && process.told.pid != first_child_) return false;
  return process.told.name.starts_with(printable(options_.name_prefix));
}

/// Returns whether intervals include the memory of a process. With the option first_child, intervals also include the
/// parent's memory, which shows what the child shares.
bool FaultTracer::shown(const Process& process) const {
  return counted(process) || (options_.first_child && process.told.pid == root_);
}

double FaultTracer::since_start(std::uint64_t time_ns) const {
  return seconds(time_ns > start_ns_ ? time_ns - start_ns_ : 0);
}

void FaultTracer::note_change(const Process& process, std::uint64_t time_ns, bool began) {
  if (process.told.parent == 0 || !counted(process)) return;
  ++(began ? interval_.began : interval_.ended);
  if (interval_.changes.size() >= FaultInterval::kMostChanges) return;
  interval_.changes.push_back({since_start(time_ns), process.told.pid, process.told.parent, process.told.name, began});
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

/// With `again`, anonymous mappings that are new since the last reading become `unreported`, because an mremap must
/// have moved them.
void FaultTracer::read_space(Process& process, bool again) {
  process.space_read_ns = now_ns();
  for (ProcessMapping& mapping : process_mappings(process.told.pid)) {
    const Region* known = process.space.find(mapping.begin);
    const bool unreported = known != nullptr ? known->unreported : again && mapping.name.empty();
    process.space.map(region_of(std::move(mapping), unreported));
  }
}

const Region* FaultTracer::find(Process& process, std::uint64_t address) {
  const Region* region = process.space.find(address);
  // The kernel does not report mremap, or mappings that are older than tracing.
  if (region == nullptr && process.alive && now_ns() - process.space_read_ns > kSpaceAgeNs) {
    read_space(process, true);
    region = process.space.find(address);
  }
  return region;
}

/// Call this before the event itself is applied.
void FaultTracer::note_scripts(const FaultEvent& event) {
  switch (event.kind) {
    case FaultEvent::Kind::kStack:
    case FaultEvent::Kind::kExec:
    case FaultEvent::Kind::kFork:
    case FaultEvent::Kind::kMap:
    case FaultEvent::Kind::kExit:
      break;
    default:  // all other events, up to three per fault, change neither mappings nor processes
      return;
  }
  const auto known = processes_.find(event.kind == FaultEvent::Kind::kFork ? event.parent : event.pid);
  static const AddressSpace kNothing;
  if (known != processes_.end()) {
    scripts_.apply(event, known->second.space);
  } else if (event.kind == FaultEvent::Kind::kExec) {
    scripts_.apply(event, kNothing);
  }
}

void FaultTracer::apply(const FaultEvent& event) {
  applied_ns_ = event.time_ns;
  if (options_.event) options_.event(event);
  note_scripts(event);
  forks_.apply(event);
  switch (event.kind) {
    case FaultEvent::Kind::kExec: {
      if (root_ == 0) {
        root_ = event.pid;
        start_ns_ = event.time_ns;
      }
      const auto known = processes_.find(event.pid);
      Process& process = known != processes_.end() ? known->second : start(event.pid, 0);
      process.told.name = printable(event.name);
      if (!process.told.before_exec) process.told.before_exec = process.told.counts;
      process.space = {};
      process.filled.clear();
      process.of_files.clear();
      process.shares = false;
      process.sharing = {};
      python_.erase(event.pid);
      sharing_.end(event.pid);
      pagemaps_.forget(event.pid);
      looked_for_huge_.erase(event.pid);
      return;
    }
    case FaultEvent::Kind::kFork: {
      const auto parent = processes_.find(event.parent);
      if (parent == processes_.end()) return;
      if (first_child_ == 0 && event.parent == root_) first_child_ = event.pid;
      std::string name = parent->second.told.name;
      AddressSpace space = parent->second.space;
      FilledPages of_files = parent->second.of_files;
      Process& process = start(event.pid, event.parent);
      process.told.name = std::move(name);
      process.space = std::move(space);
      process.of_files = std::move(of_files);
      note_change(process, event.time_ns, true);
      process.forked = parent->second.forked = true;
      process.shares = parent->second.shares = true;
      note_inheritance(parent->second, process);
      if (events_->method() == FaultEvents::Method::kSoftware) {
        // While nothing is recorded, the pages need not be read, because open_window() will read them.
        if (recording_) look(event.parent, Look::kKnown);
        sharing_.fork(event.parent, event.pid);
      }
      return;
    }
    default:
      break;
  }
  for (const Fault& fault : pairing_.apply(event)) count(fault);
  const auto known = processes_.find(event.pid);
  if (known == processes_.end()) return;
  if (event.kind == FaultEvent::Kind::kName) known->second.told.name = printable(event.name);
  const bool thread_ends = event.kind == FaultEvent::Kind::kThreadExit && known->second.main_thread_ended;
  if (event.kind == FaultEvent::Kind::kExit || thread_ends) apply_exit(known->second, event);
  if (event.kind == FaultEvent::Kind::kMap) {
    known->second.space.map({event.begin, event.end, event.file_offset, event.shared, event.hugetlb, event.name,
                             event.writable, event.executable, event.inode, false, event.device, event.readable});
  }
}

void FaultTracer::count(const Fault& fault) {
  const std::uint64_t times = fault.end_ns != 0 ? shares_.next() : 1;
  ++recorded_;
  const auto known = processes_.find(fault.pid);
  if (known == processes_.end()) return;
  if (fault.end_ns != 0) accounted_ += times;
  Process& process = known->second;
  ++process.recorded;
  const Region* region = find(process, fault.address);
  const bool software = events_->method() == FaultEvents::Method::kSoftware;
  const FaultClass kind = software ? guess(fault, region) : classify(fault, region);
  if (!counted(process)) return;
  recorded_counts_.add(kind);
  if (software) bound(process, region, kind);
  if (options_.each) options_.each(fault, kind);
  const Region* code = fault.in_kernel() ? nullptr : find(process, fault.instruction);
  const StoreTarget target = kind == FaultClass::kCopy ? target_of(process, fault, region) : StoreTarget::kOther;
  Counted one{fault, kind, scripts_.of(fault, code, process.space), target};
  tally(one, times);
  slice_counts_.add(kind);
  if (options_.sample) slice_.push_back(std::move(one));
}

/// `times` is the number of faults that this fault represents.
void FaultTracer::tally(const Counted& one, std::uint64_t times) {
  const auto& [fault, kind, caller, target] = one;
  const auto known = processes_.find(fault.pid);
  if (known == processes_.end()) return;
  Process& process = known->second;
  const Region* region = find(process, fault.address);
  const bool refill = kind == FaultClass::kZeroFill && process.filled.add(fault.address, fault.bytes());
  if (kind == FaultClass::kCopy) process.filled.add(fault.address, fault.copied_bytes());
  process.told.counts.add(fault, kind, refill, times);
  const bool of_file = kind == FaultClass::kCopy && region != nullptr && region->of_file();
  if (of_file && !process.of_files.add(fault.address, fault.copied_bytes())) {
    process.told.counts.file_copied_bytes += times * fault.copied_bytes();
  }
  note_sharing(process, fault, kind, times);
  FaultInterval::Process& in_interval = interval_.processes[fault.pid];
  in_interval.counts.add(fault, kind, refill, times);
  in_interval.child = process.told.parent != 0;
  in_interval.name = process.told.name;
  const Region where = region != nullptr ? *region : Region{0, 0, 0, false, false, "not known"};
  MappingFaults& mapping = process.mappings[{where.name, where.begin}];
  mapping.begin = where.begin;
  mapping.end = std::max(mapping.end, where.end);
  mapping.name = where.name;
  mapping.counts.add(fault, kind, refill, times);
  const Region* code = fault.in_kernel() ? nullptr : find(process, fault.instruction);
  sites_.add(fault, kind, refill, code, caller, times);
  if (kind == FaultClass::kCopy) sites_.add_copy(fault, code, target, process.told.parent != 0, times);
  if (log_) log_->add(fault, kind, start_ns_, where.end != 0 ? &where : nullptr, code);
}

FaultData FaultTracer::finish() {
  done_ = true;
  thread_.join();
  FaultData data;
  data.processes = std::move(past_);
  const bool over = !is_running(root_);
  for (const pid_t pid : order_) {
    Process& process = processes_.at(pid);
    if (process.alive) scripts_.note(pid, process.space);
    if (process.alive && over && counted(process) && is_running(pid)) data.running.push_back(pid);
    for (auto& [key, mapping] : process.mappings) process.told.mappings.push_back(std::move(mapping));
    if (counted(process) || process.told.counts.all() > 0) data.processes.push_back(std::move(process.told));
  }
  for (TracedProcess& process : data.processes) process.mappings = joined(std::move(process.mappings));
  data.intervals = std::move(intervals_);
  data.code = sites_.by_function(static_cast<std::uint32_t>(root_));
  data.writers = sites_.by_writer(static_cast<std::uint32_t>(root_));
  data.scripts = scripts_.names();
  if (!options_.stacks) data.scripts.without_stacks("give --stacks");
  if (options_.stacks) data.stacks = scripts_.stacks();
  data.lost = events_->lost();
  data.handled = handled_;
  data.sampling = sampling_;
  data.buffer_bytes = events_->buffer_bytes();
  if (log_) data.log = log_->finish();
  data.every_fault = events_->method() == FaultEvents::Method::kTracepoints;
  if (events_->reports_forks()) data.forks = forks_.sums();
  bound_counts(data);
  data.unwatched = std::move(unwatched_);
  return data;
}

}  // namespace zerotax
