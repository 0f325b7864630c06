// Records a sample of many faults, and computes how many faults each recorded fault represents. This file also
// classifies faults when tracepoints are unavailable.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <unordered_set>
#include <utility>

#include "observe/fault_tracer.h"
#include "os/clock.h"
#include "os/input_file.h"
#include "os/page.h"
#include "os/perf_streams.h"
#include "os/test_hook.h"

namespace zerotax {
namespace {

/// Length of the slice at the start of a window. The faults of this slice represent the unrecorded faults before the
/// window. If the window is shorter, all its faults represent the unrecorded faults.
constexpr std::uint64_t kSliceNs = 10'000'000;
/// Minimum number of faults that may represent unrecorded faults. A slice with fewer faults may be the end of a
/// program.
constexpr std::size_t kFewest = 50;
/// Interval between readings of the buffers while a window is open.
constexpr std::chrono::milliseconds kOften{1};
/// Interval between checks for lost events. A check takes a system call for each perf event.
constexpr std::uint64_t kLossNs = 100'000'000;
/// Pause between readings while it is unknown whether the kernel stopped watching a process.
constexpr std::chrono::microseconds kMoment{50};

std::uint64_t moment() { return static_cast<std::uint64_t>(monotonic_ns()); }

bool is_handled(const FaultEvent& event) {
  return event.kind == FaultEvent::Kind::kEnd || event.kind == FaultEvent::Kind::kFault;
}

/// Maximum size of mappings whose pages are read. Larger mappings are mostly reserved addresses, and their faults show
/// which pages are used.
constexpr std::uint64_t kLargestLook = std::uint64_t{64} << 30;

}  // namespace

FaultBudget FaultBudget::chosen(std::uint64_t seed) {
  constexpr double kSecondsAtOnce = 2.4;
  const char* const text = test_hook("ZEROTAX_FAULTS_PER_SECOND");
  const double number = text != nullptr ? std::atof(text) : 0;
  return number >= 1 ? FaultBudget(seed, number, kSecondsAtOnce * number) : FaultBudget(seed);
}

void FaultBudget::refill(Now now) {
  if (refilled_.ns != 0 && now.ns > refilled_.ns && now.cpu_ns >= refilled_.cpu_ns) {
    const std::uint64_t passed = now.ns - refilled_.ns;
    // The CPU time of processes that began and ended between two refills is missing from the total.
    const std::uint64_t used = std::clamp(now.cpu_ns - refilled_.cpu_ns, passed / 4, passed * kMostCpus);
    left_ = std::min(at_once_, left_ + static_cast<double>(used) / 1e9 * per_second_);
  }
  refilled_ = now;
}

bool FaultBudget::spend(std::uint64_t faults, Now now) {
  refill(now);
  left_ -= static_cast<double>(faults);
  return left_ > 0;
}

void FaultBudget::close(Now now) {
  refill(now);
  closed_ns_ = now.ns;
  // Windows start at random intervals, so that they do not coincide with a periodic pattern of the program's faults.
  wanted_ = std::min(kWindow, per_second_ / 4) * (0.5 + std::generate_canonical<double, 53>(random_));
}

bool FaultBudget::may_open(Now now) {
  refill(now);
  return left_ >= wanted_ && now.ns >= closed_ns_ + opening_ns_ * kShare;
}

std::uint64_t Shares::next() {
  if (handed_out_ == parts_) return 1;
  ++handed_out_;
  // The product cannot overflow: a slice has fewer than 2^20 faults, and a gap between windows has fewer than 2^44.
  const std::uint64_t until = all_ * handed_out_ / parts_;
  const std::uint64_t part = until - taken_;
  taken_ = until;
  return part;
}

/// Charges the budget for the newly read faults, which are the pending events after the first `known` ones. Opens or
/// closes the window.
void FaultTracer::spend(std::size_t known) {
  if (recording_) {
    const auto read = std::count_if(pending_.begin() + static_cast<std::ptrdiff_t>(known), pending_.end(), is_handled);
    if (!budget_.spend(static_cast<std::uint64_t>(read), used()) || loses_events()) close_window();
  } else if (budget_.may_open(used())) {
    open_window();
  }
}

/// Returns whether events were lost since the last check, because the program faults faster than events are read. Lost
/// faults are estimated in the same way as unrecorded faults.
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

/// Returns whether the window is still too short for its faults to represent the unrecorded faults before the window.
bool FaultTracer::waits_for_more() const { return recording_ && gap_ > 0 && moment() < opened_ns_ + kSliceNs; }

/// Returns the number of pending faults that were handled before this time.
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
  // A slice with few faults represents later faults badly, so the previous slice is kept if it is larger.
  if (slice_.size() < kFewest && last.size() > slice_.size()) slice_ = std::move(last);
}

/// Counts `faults` more faults in the proportions of a slice that was already counted.
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
  // Faults that are still being handled will be reported after recording starts again.
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

/// Attributes the faults after the last window, in the proportions of that window.
void FaultTracer::settle() {
  handled_ = events_->handled();
  if (!sampling_) return;
  sampling_->recorded = recorded_;
  if (handled_ > accounted_) stand_for(slice_, handled_ - accounted_);
}

/// Reads which pages each process has and which pages it shares, because unrecorded faults may have changed both.
void FaultTracer::look_anew() {
  for (const pid_t pid : order_) {
    Process& process = processes_.at(pid);
    if (process.alive) look(pid, process.forked ? Look::kAnewAfterFork : Look::kAnew);
    process.forked = false;
  }
}

FaultClass FaultTracer::guess(const Fault& fault, const Region* region) {
  if (region == nullptr || region->hugetlb || region->name == "[vvar]") return FaultClass::kOther;
  const std::uint64_t page = fault.address / page_bytes();
  // The kernel handles no fault in an inaccessible mapping. An unreported mremap must have moved another mapping to
  // this address.
  if (!region->readable && !region->writable && !region->executable) return FaultClass::kOther;
  if (!region->of_file()) {
    // A page that mremap moved to this address may be shared.
    const bool moved = region->unreported && processes_.at(fault.pid).shares;
    if (moved && sharing_.found(fault.pid, page, fault.begin_ns, false, 0)) return FaultClass::kOther;
    const FaultClass kind = sharing_.anonymous_fault(fault.pid, page, fault.begin_ns);
    if (kind == FaultClass::kZeroFill) look_for_huge_page(fault.pid, page, fault.begin_ns, *region);
    return kind;
  }
  const auto now = pagemaps_.entry(fault.pid, page);
  const auto is_copy = now && now->populated() ? std::optional(!now->of_file()) : std::nullopt;
  if (region->shared || !region->writable) return is_copy.value_or(false) ? FaultClass::kOther : FaultClass::kFile;
  return sharing_.file_fault(fault.pid, page, fault.begin_ns, is_copy);
}

/// Counts the fault in every class that it may have, if only its address is known.
void FaultTracer::bound(const Process& process, const Region* region, FaultClass kind) {
  if (kind == FaultClass::kFile && (region->shared || !region->writable)) return;
  ++possible_.zero_fills;
  // A page that no other process ever shared is copied only if KSM had merged it with other pages.
  const bool own = region != nullptr && !region->of_file() && kind != FaultClass::kOther && kind != FaultClass::kCopy;
  ++(own && !process.shares ? possible_.copies_if_merged : possible_.copies);
}

/// Returns whether KSM merges pages now, or has merged pages (Documentation/admin-guide/mm/ksm.rst).
bool FaultTracer::merges_pages() {
  return std::strtoull(text_of("/sys/kernel/mm/ksm/run").c_str(), nullptr, 10) == 1 ||
         std::strtoull(text_of("/sys/kernel/mm/ksm/pages_shared").c_str(), nullptr, 10) > 0;
}

/// Checks whether a zero-fill fault populated a huge page, because no event reports huge pages. A huge page is assumed
/// if all its base pages are populated, and if the process took no other fault on them before its next fork. After a
/// fork, each base page can take a separate fault.
void FaultTracer::look_for_huge_page(pid_t pid, std::uint64_t page, std::uint64_t time_ns, const Region& region) {
  const std::uint64_t huge_pages = huge_page_bytes() / page_bytes();
  const std::uint64_t first = page / huge_pages * huge_pages;
  const AddressRange all{first * page_bytes(), (first + huge_pages) * page_bytes()};
  if (all.begin < region.begin || all.end > region.end || !looked_for_huge_[pid].insert(first).second) return;
  std::size_t there = 0;
  pagemaps_.for_each(pid, all, [&](std::uint64_t, PagemapEntry entry) { there += entry.of_file() ? 0 : 1; });
  if (there < huge_pages) return;
  for (const FaultEvent& event : pending_) {
    if (event.time_ns <= time_ns) continue;
    if (event.kind == FaultEvent::Kind::kFork && event.parent == pid) break;
    const bool within = event.address >= all.begin && event.address < all.end;
    if (event.kind == FaultEvent::Kind::kFault && event.pid == pid && within) return;
  }
  sharing_.found_huge(pid, first, huge_pages, time_ns);
}

/// Finds private pages that the process got without a reported fault, and pages that it returned. If tracing of the
/// process has just begun, the pagemap shows which pages the process shares with its parent or with an unwatched
/// process.
void FaultTracer::look(pid_t pid, Look how) {
  const auto now = static_cast<std::uint64_t>(monotonic_ns());
  // Pages whose faults are reported but not yet counted are added when those faults are counted.
  std::unordered_set<std::uint64_t> to_come;
  for (const FaultEvent& event : pending_) {
    if (event.kind == FaultEvent::Kind::kFault && event.pid == pid && event.time_ns >= applied_ns_) {
      to_come.insert(event.address / page_bytes());
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
      if (!to_come.contains(page)) pages.emplace_back(page, how != Look::kKnown && !entry.exclusive());
    }) && complete;
  }
  if (complete) sharing_.keep_only(pid, populated);
  looked_for_huge_.erase(pid);
  const pid_t parent = processes_.at(pid).told.parent;
  const bool anew = how == Look::kAnew || how == Look::kAnewAfterFork;
  for (const auto& [page, shared] : pages) {
    if (anew) {
      sharing_.found_anew(pid, page, now, shared, parent, how == Look::kAnewAfterFork);
    } else {
      sharing_.found(pid, page, now, shared, parent);
    }
  }
}

}  // namespace zerotax
