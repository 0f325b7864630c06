#include "record/preload/return.h"

#include "os/clock.h"
#include "record/preload/examine.h"
#include "record/preload/file_pages.h"
#include "record/preload/holdings.h"
#include "record/preload/huge_use.h"
#include "record/preload/own_stack.h"
#include "record/preload/process.h"
#include "record/preload/real.h"
#include "record/preload/resident.h"
#include "record/preload/site.h"

namespace zerotax::record {
namespace {

/// Number of small returns of each thread that are all examined. Later small returns are sampled.
constexpr std::uint32_t kAllOf = 128;

/// Counts a system call that may change mappings. Returns false if neither the program nor its allocator made the call;
/// bytes that such a call returns are not attributed.
bool count_mapping_call(ThreadState& thread) {
  if (process == nullptr || thread.now.inside == Inside::kOwn) return false;
  const bool known = guard.alive != 0 && thread.block != nullptr;
  if (!known && !((thread.armed != nullptr || thread.block == nullptr) && prepare(thread))) return false;
  ++thread.block->mapping_calls;
  return true;
}

void add_to_call(ThreadState& thread, Mechanism mechanism, std::uint64_t bytes) {
  begin_events(thread);
  thread.call.returned[mechanism] += bytes;
}

}  // namespace

Watched::Watched(CalledFrom from) : thread(state) {
  if (process == nullptr) return;
  if (thread.armed == nullptr && thread.block != nullptr) arrival_.emplace(thread, from, nesting_code);
  counts = count_mapping_call(thread);
}

ReturnCause cause_of(const ThreadState& thread, const void* caller) {
  switch (place_of(thread)) {
    case Inside::kFree:
      return kByFree;
    case Inside::kRealloc:
      return kByRealloc;
    case Inside::kCalloc:
    case Inside::kOther:
      return kByAllocation;
    case Inside::kProgram:
    case Inside::kOwn:
      break;
  }
  return is_of_allocator(caller) || thread.trim != nullptr ? kByPurge : kByProgram;
}

Return::Return(ThreadState& thread, AddressRange range, Mechanism mechanism, const void* caller)
    : thread_(thread), range_(range), mechanism_(mechanism), cause_(cause_of(thread, caller)) {
  // A call to malloc_trim takes milliseconds anyway, so that each of its returns is examined.
  const bool is_sampled = range.bytes() < kLargeBytes && thread.trim == nullptr;
  if (range.bytes() == 0) weight_ = 0;
  if (is_sampled && weight_ != 0) weight_ = weight_of_small(range.bytes());
  if (weight_ == 0) return;
  on_own_stack([&] { look(); });
}

void Return::done(bool succeeded) {
  if (succeeded && (mechanism_ == kMunmap || mechanism_ == kMmap)) {
    forget_file_pages(range_);
    forget_huge_mappings(range_);
  }
  if (succeeded && found_.bytes != 0) on_own_stack([&] { note(); });
}

Return::Clocks Return::now() { return {monotonic_ns(), thread_cpu_ns()}; }

void Return::look() {
  const OwnWork own;
  const Clocks began = now();
  found_ = zeroed_in(range_);
  if (weight_ > 1) note_small();
  process->holdings.returned_zero_bytes += weight_ * found_.zero;
  if (found_.bytes != 0) {
    about_to_return(weight_ * found_.bytes);
    note_resident_peak(process->holdings.last_bytes, cause_ == kByFree || cause_ == kByRealloc);
  }
  count_returned_huge(range_, found_.huge, weight_);
  began_ = now();
  note_own(began, began_);
}

void Return::note() {
  const OwnWork own;
  const Clocks ended = now();
  ReturnRow& row = thread_.block->returned[cause_][mechanism_];
  row.calls += weight_;
  row.bytes += weight_ * found_.bytes;
  row.cpu_ns += weight_ * static_cast<std::uint64_t>(ended.cpu_ns - began_.cpu_ns);
  if (weight_ > 1) thread_.block->sampled_returns += weight_;
  have_returned(weight_ * found_.bytes, weight_ * found_.huge);
  if (cause_ <= kByAllocation) {
    // If this return stands for other returns, too, its bytes do not belong to this call alone.
    if (weight_ == 1) add_to_call(thread_, mechanism_, found_.bytes);
  } else if (thread_.trim != nullptr) {
    thread_.trim->returned[mechanism_] += found_.bytes;
  } else if (found_.bytes >= kLargeBytes) {
    CallFigures figures{};
    figures.returned[mechanism_] = found_.bytes;
    note_site(cause_ == kByPurge ? SiteKind::kPurge : SiteKind::kProgram, 0, figures);
  }
  if (found_.bytes >= kLargeBytes) measure_faults(found_.bytes, found_.huge * 2 > found_.bytes);
  note_own(ended, now());
}

std::uint64_t Return::weight_of_small(std::uint64_t bytes) const {
  if (thread_.small_returns < kAllOf) return ++thread_.small_returns, 1;
  SmallReturns& small = thread_.block->small_returns;
  if (small.widest_bytes < bytes) small.widest_bytes = bytes;
  const std::uint32_t place = (thread_.small_returns++ - kAllOf) % kSmallGroup;
  if (place == 0) thread_.chosen_return = static_cast<std::uint32_t>(random_of(thread_) % kSmallGroup);
  if (place == thread_.chosen_return) return kSmallGroup;
  small.unlooked_bytes += bytes;
  return 0;
}

/// Counts an examined small return. For every second return, adds the squared difference from the previous return.
/// These differences indicate how much the unexamined returns may differ.
void Return::note_small() {
  SmallReturns& small = thread_.block->small_returns;
  small.bytes += found_.bytes;
  const std::uint64_t pages = found_.bytes / page_bytes();
  const bool second = (thread_.small_returns - kAllOf - 1) / kSmallGroup % 2 != 0;
  const std::uint64_t distance =
      pages > thread_.last_small_pages ? pages - thread_.last_small_pages : thread_.last_small_pages - pages;
  if (second) small.square_pages += distance * distance;
  thread_.last_small_pages = pages;
}

void Return::note_own(Clocks from, Clocks to) {
  thread_.block->own_ns += static_cast<std::uint64_t>(to.ns - from.ns);
  thread_.block->own_cpu_ns += static_cast<std::uint64_t>(to.cpu_ns - from.cpu_ns);
}

}  // namespace zerotax::record
