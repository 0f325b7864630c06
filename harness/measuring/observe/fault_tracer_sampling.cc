// How the tracer records some of very many faults, and what these stand for.

#include <algorithm>
#include <ctime>
#include <utility>

#include "observe/fault_tracer.h"
#include "observe/time_order.h"
#include "os/clock.h"

namespace zerotax {
namespace {

/// The faults of a window that stand for those before it: all of so much time, unless it ends sooner.
constexpr std::uint64_t kSliceNs = 10'000'000;
/// Fewer say nothing of others: they may be those of a program's end.
constexpr std::size_t kFewest = 50;
/// How often the buffers are read while a window is open.
constexpr std::chrono::milliseconds kOften{1};
/// Interval between checks for lost events. A check takes a system call for each perf event.
constexpr std::uint64_t kLossNs = 100'000'000;
/// Pause while it is undecided whether the kernel ended a watch.
constexpr std::chrono::microseconds kMoment{50};

std::uint64_t moment() { return static_cast<std::uint64_t>(monotonic_ns()); }

bool is_handled(const FaultEvent& event) {
  return event.kind == FaultEvent::Kind::kEnd || event.kind == FaultEvent::Kind::kFault;
}

}  // namespace

/// Of what was read just now, beyond the `known` events.
void FaultTracer::spend(std::size_t known) {
  if (recording_) {
    const auto read = std::count_if(pending_.begin() + static_cast<std::ptrdiff_t>(known), pending_.end(), is_handled);
    if (!budget_.spend(static_cast<std::uint64_t>(read), used()) || loses_events()) close_window();
  } else if (budget_.may_open(used())) {
    open_window();
  }
}

/// Whether events were lost since the last check, because the program faults faster than we read. Lost faults are
/// estimated like faults that are not recorded.
bool FaultTracer::loses_events() {
  const std::uint64_t now = moment();
  if (now < lost_asked_ns_ + kLossNs) return false;
  lost_asked_ns_ = now;
  const std::uint64_t lost = events_->lost();
  return lost > std::exchange(lost_, lost);
}

FaultBudget::Now FaultTracer::used() {
  for (auto& [pid, process] : processes_) {
    clockid_t clock{};
    if (!process.alive || ::clock_getcpuclockid(pid, &clock) != 0) continue;
    const auto cpu = static_cast<std::uint64_t>(clock_ns(clock));
    if (cpu > process.cpu_ns) used_ns_ += cpu - std::exchange(process.cpu_ns, cpu);
  }
  return {moment(), used_ns_};
}

std::chrono::microseconds FaultTracer::pause() const {
  if (is_undecided()) return kMoment;
  const bool often = options_.sample && (!recording_ || budget_.is_low());
  return often ? std::min(kOften, options_.pause) : options_.pause;
}

/// Whether the faults that were read are too few to stand for those before them.
bool FaultTracer::waits_for_more() const { return recording_ && gap_ > 0 && moment() < opened_ns_ + kSliceNs; }

/// How many of the pending faults were handled before this time.
std::uint64_t FaultTracer::ended_before(std::uint64_t before_ns) {
  FaultPairing pairing = pairing_;
  std::uint64_t ended = 0;
  std::vector<FaultEvent> events = pending_;
  apply_in_order(events, before_ns, [&](const FaultEvent& event) {
    for (const Fault& fault : pairing.apply(event)) ended += fault.end_ns != 0 ? 1 : 0;
  });
  return ended;
}

void FaultTracer::process_slice(std::uint64_t before_ns) {
  const std::uint64_t ended = gap_ > 0 ? ended_before(before_ns) : 0;
  std::vector<Counted> last = std::move(slice_);
  slice_.clear();
  slice_counts_ = {};
  const bool enough = ended >= kFewest || last.size() < ended;
  if (ended > 0 && enough) shares_ = Shares(ended + gap_, ended);
  process(before_ns);
  if (ended > 0 && enough) sampling_->add_gap(gap_, ended, slice_counts_);
  if (ended > 0 && !enough) stand_for(last, gap_);
  if (ended > 0) gap_ = 0;
  // Some few are no sample of those to come.
  if (slice_.size() < kFewest && last.size() > slice_.size()) slice_ = std::move(last);
}

/// Faults that are counted already stand for so many more.
void FaultTracer::stand_for(const std::vector<Counted>& slice, std::uint64_t faults) {
  if (slice.empty()) return;
  ClassCounts counts;
  for (const Counted& one : slice) counts.add(one.kind);
  sampling_->add_gap(faults, slice.size(), counts);
  Shares shares(faults, slice.size());
  for (const Counted& one : slice) tally(one, shares.next());
  accounted_ += faults;
}

void FaultTracer::close_window() {
  events_->record(false);
  const std::uint64_t now = moment();
  events_->read(pending_);
  process_slice(now);
  // Those that were being handled are among the faults to come.
  pairing_.forget();
  recording_ = false;
  if (!sampling_) {
    sampling_.emplace();
    sampling_->windows = 1;
    interval_.sampled = true;
  }
  budget_.close(used());
}

void FaultTracer::open_window() {
  const std::uint64_t begin = moment();
  process_slice(begin);
  if (events_->method() == FaultEvents::Method::kSoftware) look_anew();
  const std::uint64_t handled = events_->handled();
  gap_ = handled > accounted_ ? handled - accounted_ : 0;
  events_->record(true);
  recording_ = true;
  ++sampling_->windows;
  opened_ns_ = moment();
  budget_.open(opened_ns_ - begin);
}

/// At the end: those after the last window are as those in it.
void FaultTracer::settle() {
  handled_ = events_->handled();
  if (!sampling_) return;
  sampling_->recorded = recorded_;
  if (handled_ > accounted_) stand_for(slice_, handled_ - accounted_);
}

/// Which pages each process has, and shares: of faults that were not recorded nothing else is known.
void FaultTracer::look_anew() {
  for (const pid_t pid : order_) {
    Process& process = processes_.at(pid);
    if (process.alive) look(pid, process.forked ? Look::kAnewAfterFork : Look::kAnew);
    process.forked = false;
  }
}

}  // namespace zerotax
