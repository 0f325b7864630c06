#include "record/processes.h"

#include <algorithm>
#include <limits>
#include <set>

#include "os/page.h"
#include "record/metrics.h"

namespace zerotax::record {
namespace {

constexpr std::uint64_t kUncertain = std::uint64_t{8} << 20;  // error of /proc/PID/statm before Linux 6.17, in bytes
constexpr std::uint64_t kUncertainPart = 20;
constexpr const char* kUnseenReturns = "memory was returned to the kernel unseen (by the program's own system calls)";
constexpr const char* kTooManyFaults =
    "memory may have been returned to the kernel unseen (by the program's own system calls, or by another C library): "
    "too many page faults populated no memory that was seen";
constexpr const char* kPieces =
    "memory may have been returned to the kernel unseen (by the program's own system calls, or by another C library): "
    "huge pages were populated on this machine at the same time, perhaps by this program";
constexpr std::int64_t kEndOfTime_ns = std::numeric_limits<std::int64_t>::max();
constexpr const char* kWithoutFaults =
    "pages appeared without a page fault of the process, and may have been copied or zeroed (by the program's own "
    "system calls for userfaultfd, or by another process that wrote to the memory)";
constexpr std::uint64_t kFewFaults = 512;

/// Page faults that the kernel counted since recording of the process began, without faults that populated known
/// memory.
struct Faults {
  std::uint64_t other = 0;        ///< faults that populated no known memory
  std::uint64_t least_other = 0;  ///< `other` if nothing was populated in pieces larger than a page
  std::uint64_t in_pieces = 0;    ///< maximum number of bytes, outside the process's huge pages, that were populated in
                                  ///< pieces larger than a page
  std::uint64_t missing = 0;      ///< pages of known memory that were neither copied nor populated by a fault
  std::uint64_t explicable = 0;   ///< maximum part of `other` with a known reason: reads before writes, files, forks
};

Faults faults_beside(const Holdings& holdings, std::uint64_t sharers_faults, std::optional<std::uint64_t> huge) {
  const std::uint64_t own_huge = holdings.huge_bytes + holdings.returned_huge_bytes;
  const std::uint64_t populated = less(holdings.at_end_bytes + holdings.swapped_bytes + holdings.hugetlb_bytes +
                                           holdings.returned_bytes + holdings.returned_copies,
                                       holdings.at_open_bytes + holdings.copied_in_bytes);
  const std::uint64_t taken =
      less(holdings.minor_faults + sharers_faults, holdings.faults_at_open + holdings.own_faults);
  const std::uint64_t known = faults_of(populated, std::min(populated, own_huge), holdings);
  Faults faults;
  faults.in_pieces = less(huge.value_or(0), own_huge);
  const std::uint64_t by_single_faults = less(known, faults.in_pieces / page_bytes());
  faults.other = less(taken, by_single_faults);
  faults.least_other = less(taken, known);
  // If a page had to be read from a disk, its copy took a major fault.
  faults.missing = less(by_single_faults, taken + (holdings.copied_bytes + holdings.returned_copies) / page_bytes());
  const std::uint64_t twice = populated + 2 * (holdings.file_bytes + holdings.file_mapped_bytes);
  const std::uint64_t once = holdings.at_end_zero_bytes + holdings.returned_zero_bytes + holdings.forked_bytes +
                             holdings.at_start_bytes + holdings.shared_bytes;
  faults.explicable = (twice + once) / page_bytes() + kFewFaults;
  return faults;
}

/// Bounds the zeroed bytes of a process whose counts are closed. These counts may lack memory shared with other
/// processes, which the kernel zeroes but which does not belong to the process. They may also lack returns by the
/// program's own system calls; in that case, an earlier sample shows more memory than the end. The number of faults
/// outside known memory bounds both kinds of missing bytes.
void bound_closed(KernelPart& part, const Holdings& holdings, std::uint64_t sharers_faults, std::uint64_t seen_bytes,
                  std::optional<std::uint64_t> huge) {
  const Faults faults = faults_beside(holdings, sharers_faults, huge);
  const std::uint64_t copies = holdings.copied_bytes + holdings.returned_copies;
  const std::uint64_t most = page_bytes() * faults.other + faults.in_pieces +
                             std::min<std::uint64_t>(copies, holdings.private_shared_bytes) +
                             less(holdings.hugetlb_mapped_bytes, holdings.hugetlb_bytes);
  part.slack = huge ? std::optional(most) : std::nullopt;
  // The number of bytes that small calls returned is an estimate.
  const Interval estimated = returned_interval(part.small_returns);
  const std::uint64_t without_faults = std::min(page_bytes() * faults.missing, part.zeroed);
  if (huge && faults.missing > kFewFaults + estimated.below / page_bytes()) {
    part.why_not = kWithoutFaults;
    part.zeroed -= without_faults;
    part.refilled = less(part.refilled, without_faults);
    part.unseen = without_faults;
    part.slack = without_faults;
    return;
  }
  const std::uint64_t in_the_end = holdings.at_end_bytes + holdings.swapped_bytes + holdings.hugetlb_bytes +
                                   holdings.returned_bytes + holdings.returned_copies;
  const std::uint64_t missing = less(seen_bytes, in_the_end);
  if (missing > kUncertain + seen_bytes / kUncertainPart) {
    part.why_not = kUnseenReturns;
    part.zeroed += missing;
    part.faults = std::min(part.faults + missing / page_bytes(), part.minor_faults);
    part.unlimited = !huge;
    part.unseen = less(most, missing);
    part.slack = part.unseen;
    return;
  }
  const std::uint64_t explicable = faults.explicable + estimated.above / page_bytes();
  if (faults.other > explicable) {
    part.why_not = faults.least_other > explicable ? kTooManyFaults : kPieces;
    part.unlimited = !huge;
    part.unseen = most;
  } else if (holdings.shared_bytes >= kLargeBytes) {
    part.unseen = std::min<std::uint64_t>(holdings.shared_bytes, huge ? most : ~std::uint64_t{0});
    if (part.unseen != 0) part.why_not = kSharedUnknown;
  }
}

}  // namespace

SeenRun::SeenRun(RecordArena& arena, const ForegroundResult& run, const RunWatch* watch)
    : arena_(arena), watch_(watch), processes_(arena.processes()), run_(run) {
  for (const ProcessSlot* slot : processes_) sharers_[slot] = sharers_of(*slot);
  for (const ProcessSlot* slot : processes_) kernel_[slot] = kernel_of(*slot);
}

std::optional<SharerUse> SeenRun::shared_use(pid_t pid, std::int64_t since_ns, std::int64_t until_ns) const {
  std::optional<SharerUse> use;
  for (const ExecEntry* entry : arena_.entries()) {
    const bool in_time = entry->at_ns >= since_ns && entry->at_ns <= until_ns;
    if (entry->pid == pid && entry->failed == 0 && in_time && (entry->ended != 0 || entry->shared.cpu_ns != 0))
      use = entry->shared;
  }
  return use;
}

bool SeenRun::is_recorded(const ProcessCounts& counted) const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [&](const ProcessSlot* slot) { return counts(*slot) == &counted; });
}

/// Finds quiet children (quiet_child.h) among the processes that the kernel counted: children without a slot, an exec,
/// or the record of a sharer.
void SeenRun::find_quiet(const ProcessSlot& slot, Sharers& sharers) const {
  const Holdings& holdings = slot.holdings;
  const std::uint64_t without_exec = less(holdings.quiet_begun, holdings.quiet_execs);
  sharers.children_known = without_exec <= holdings.quiet_ended;
  if (watch_ == nullptr || without_exec == 0) return;
  std::uint64_t faults = 0;
  bool counted = watch_->exact();
  for (const ProcessCounts& each : watch_->processes()) {
    if (each.parent != pid(slot) || each.began_ns < slot.started_ns || !each.execs.empty()) continue;
    if (is_recorded(each) || shared_use(each.pid, each.began_ns, kEndOfTime_ns)) continue;
    counted = counted && each.ended && each.minor_faults;
    faults += each.minor_faults.value_or(0);
    // not_followed() reports children that still run.
    if (each.ended) sharers.quiet.push_back(&each);
  }
  if (counted && sharers.quiet.size() == without_exec) sharers.unseen_faults = faults;
  // If the kernel counted more children than the process had quiet children, some are of another kind.
  if (sharers.quiet.size() > without_exec) sharers.quiet.clear();
}

/// Adds the kernel's counts for sharers whose end was not recorded. The kernel must have counted exactly that many
/// children that recorded nothing and executed no other program.
SeenRun::Sharers SeenRun::sharers_of(const ProcessSlot& slot) const {
  const Holdings& holdings = slot.holdings;
  Sharers sharers;
  sharers.faults = holdings.sharers_faults;
  sharers.cpu_ns = holdings.sharers_cpu_ns;
  find_quiet(slot, sharers);
  const std::uint64_t missing = less(holdings.sharers_begun, holdings.sharers_ended);
  if (missing == 0) return sharers;
  if (watch_ == nullptr || !watch_->exact()) {
    sharers.bytes_known = sharers.faults_known = false;
    return sharers;
  }
  // Sharers may start further sharers.
  std::set<pid_t> family{pid(slot)};
  std::uint64_t became = 0;
  for (const ProcessCounts& each : watch_->processes()) {
    if (!family.contains(each.parent) || each.began_ns < slot.started_ns) continue;
    const bool recorded = is_recorded(each);
    const bool reported = shared_use(each.pid, each.began_ns, kEndOfTime_ns).has_value();
    if (reported || (!recorded && each.execs.empty())) family.insert(each.pid);
    if (reported) continue;
    if (!each.execs.empty()) {
      ++became;
    } else if (!recorded) {
      sharers.unreported.push_back(&each);
    }
  }
  const bool ambiguous = sharers.unreported.size() + became > missing;
  sharers.faults_known = became == 0 && !ambiguous;
  sharers.bytes_known = !ambiguous;
  for (const ProcessCounts* each : sharers.unreported) {
    if (!each->ended || !each->minor_faults) sharers.faults_known = false;
    if (!each->ended || each->ended_ns > slot.ended_ns) sharers.bytes_known = false;
  }
  for (const ProcessCounts* each : sharers.unreported) {
    if (!sharers.faults_known) break;
    sharers.faults += *each->minor_faults;
    sharers.cpu_ns += each->cpu_ns;
  }
  if (ambiguous) sharers.unreported.clear();
  return sharers;
}

/// Returns the bytes that a process held when its recording was opened. If these bytes are unknown, the result is an
/// upper bound: one page for each fault of the process.
std::uint64_t SeenRun::at_open_bytes(const ProcessSlot& slot) {
  if (slot.forked != 0) return 0;
  const Holdings& holdings = slot.holdings;
  return (slot.gaps & kNoHoldings) != 0 ? page_bytes() * holdings.faults_at_open : holdings.at_open_bytes;
}

/// Returns the recording of the same process under its previous program.
const ProcessSlot* SeenRun::before(const ProcessSlot& slot) const {
  const ProcessSlot* found = nullptr;
  for (const ProcessSlot* each : processes_) {
    const bool earlier = each->pid == slot.pid && each->started_ns < slot.started_ns && each->ended == 0;
    if (earlier && (found == nullptr || each->started_ns > found->started_ns)) found = each;
  }
  return slot.forked != 0 ? nullptr : found;
}

/// Returns the recording of the same process under its next program.
const ProcessSlot* SeenRun::after(const ProcessSlot& slot) const {
  const ProcessSlot* found = nullptr;
  for (const ProcessSlot* each : processes_) {
    const bool later = each->pid == slot.pid && each->started_ns > slot.started_ns && each->forked == 0;
    if (later && (found == nullptr || each->started_ns < found->started_ns)) found = each;
  }
  return found;
}

/// Returns the minor faults that the process took under earlier programs.
std::uint64_t SeenRun::faults_before(const ProcessSlot& slot) const {
  const ProcessSlot* const program = before(slot);
  const ProcessCounts* const counted = counts(slot);
  if (counted != nullptr) {
    const auto since = program != nullptr ? program->started_ns : counted->began_ns;
    const auto execs = std::count_if(counted->execs.begin(), counted->execs.end(),
                                     [&](std::int64_t ns) { return ns > since && ns <= slot.started_ns; });
    // After more than one exec, at least one earlier program recorded nothing.
    if (execs > 1) return slot.holdings.faults_at_open;
  }
  if (program == nullptr && slot.forked == 0) {
    const auto use = shared_use(slot.pid, counted != nullptr ? counted->began_ns : 0, slot.started_ns);
    return use ? use->faults : 0;
  }
  if (program == nullptr) return 0;
  return program->holdings.closed != 0 ? program->holdings.minor_faults : slot.holdings.faults_at_open;
}

/// Whether the process executed no other program afterwards.
bool SeenRun::is_last(const ProcessSlot& slot) const {
  const ProcessCounts* const counted = counts(slot);
  if (counted != nullptr && !counted->execs.empty() && counted->execs.back() > slot.started_ns) return false;
  return after(slot) == nullptr;
}

/// Returns the minor faults of the process until it ended or executed another program, or nothing if they are unknown.
std::optional<std::uint64_t> SeenRun::faults_by_the_end(const ProcessSlot& slot) const {
  if (slot.holdings.closed != 0) return slot.holdings.minor_faults;
  if (const ProcessSlot* const next = after(slot)) return next->holdings.faults_at_open;
  if (!is_last(slot)) return std::nullopt;
  const ProcessCounts* const counted = counts(slot);
  if (slot.pid == run_.pid && run_.minor_faults) return run_.minor_faults;
  return counted != nullptr && watch_->exact() && !counted->rights_changed ? counted->minor_faults : std::nullopt;
}

KernelPart SeenRun::kernel_of(const ProcessSlot& slot) const {
  const Sharers& shared = sharers(slot);
  KernelPart part = kernel_part(slot, shared.faults);
  const Holdings& holdings = slot.holdings;
  const std::uint64_t not_its_own = faults_before(slot) + holdings.own_faults;
  const ProcessLook look = watch_ != nullptr ? watch_->last_look(slot).value_or(ProcessLook{}) : ProcessLook{};
  const auto huge = watch_ != nullptr ? watch_->huge_bytes() : std::nullopt;
  if (part.why_not.empty()) {
    part.minor_faults = less(holdings.minor_faults + shared.faults, not_its_own);
    part.faults = std::min(part.faults, part.minor_faults);
    bound_closed(part, holdings, shared.faults, look.populated_bytes, huge);
    if (!shared.faults_known || !shared.children_known) {
      part.faults_known = false;
      part.why_no_faults = shared.children_known ? kUnseenSharers : kUnseenChildren;
      part.faults = faults_of(part.zeroed, part.huge, holdings);
    }
    if (!shared.bytes_known || !shared.children_known) {
      part.why_not = shared.children_known ? kUnseenSharers : kUnseenChildren;
      part.unlimited = !shared.bytes_known || !shared.unseen_faults || !huge;
      if (!part.unlimited) part.unseen += page_bytes() * *shared.unseen_faults + *huge;
    }
    return part;
  }
  std::uint64_t populated = std::max<std::uint64_t>(holdings.peak_bytes, holdings.returned_bytes);
  part.peak = holdings.peak_bytes;
  std::uint64_t faults = std::max(holdings.faults_at_open, holdings.minor_faults);
  if (holdings.closed != 0) {
    populated = std::max(populated, holdings.at_end_bytes + holdings.swapped_bytes + holdings.returned_bytes);
    part.peak = std::max(part.peak, holdings.at_end_bytes);
  }
  populated = std::max(populated, look.populated_bytes);
  part.peak = std::max(part.peak, look.held_bytes);
  faults = std::max(faults, look.minor_faults);
  // The counts of an ordinary user lack faults inside the kernel.
  const ProcessCounts* const counted = counts(slot);
  if (counted != nullptr && is_last(slot)) faults = std::max(faults, counted->minor_faults.value_or(0));
  // If the process was never sampled, it is unknown which of its pages were zeroed and which were copied from files.
  const bool looked = look.populated_bytes != 0 || holdings.closed != 0;
  const std::uint64_t copied = std::max<std::uint64_t>(look.copied_bytes, holdings.copied_bytes);
  part.zeroed = looked ? less(populated, holdings.at_open_bytes + copied)
                       : less(holdings.returned_bytes, holdings.returned_copies);
  part.refilled = std::min(part.zeroed, less(populated, part.peak));
  part.returned = holdings.returned_bytes;
  const auto by_the_end = faults_by_the_end(slot);
  part.faults_known = by_the_end.has_value();
  const std::uint64_t all = by_the_end.value_or(faults);
  part.minor_faults = less(all + shared.faults, not_its_own);
  part.faults = std::min(part.zeroed / page_bytes(), part.minor_faults);
  // Bytes beyond one page per fault must be in huge pages.
  if (part.faults_known) part.huge = less(part.zeroed, page_bytes() * part.minor_faults);
  const std::uint64_t since = page_bytes() * less(all + shared.faults, holdings.faults_at_open + holdings.own_faults);
  part.faults_known = part.faults_known && shared.faults_known;
  part.unlimited = !part.faults_known || !huge;
  if (!part.unlimited) {
    part.unseen = less(since + *huge + holdings.hugetlb_mapped_bytes + at_open_bytes(slot), part.zeroed);
  }
  return part;
}

std::uint64_t SeenRun::cpu_ns(const ProcessSlot& slot, const Tally& sum) const {
  const std::uint64_t shared_ns = sharers(slot).cpu_ns;
  std::uint64_t ns = process_cpu_ns(slot, sum, shared_ns);
  if (slot.holdings.closed != 0 || watch_ == nullptr) return ns;
  const auto before = static_cast<std::uint64_t>(slot.cpu_at_start_ns);
  const ProcessCounts* const counted = counts(slot);
  if (counted != nullptr && is_last(slot)) ns = std::max(ns, less(counted->cpu_ns, before) + shared_ns);
  if (const auto look = watch_->last_look(slot)) {
    ns = std::max(ns, less(static_cast<std::uint64_t>(look->cpu_ns), before) + shared_ns);
  }
  return ns;
}

}  // namespace zerotax::record
