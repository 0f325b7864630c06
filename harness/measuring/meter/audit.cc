#include "meter/audit.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "meter/contents.h"
#include "meter/memory_call.h"
#include "os/clock.h"
#include "os/faults.h"
#include "os/mappings.h"

extern "C" [[gnu::weak]] int malloc_watches_its_mappings();

namespace zerotax {
namespace {

/// Threshold of significant page faults. A call may take fewer faults for a stack, a header or a page of code.
constexpr std::int64_t kManyFaults = 16;

/// Adds the counts since the last begin().
void tally(SyscallTally& tally) {
  if (SyscallCounter::incomplete()) tally.incomplete = 1;
  for (std::size_t number = 0; number < SyscallCounter::kNumbers; ++number) {
    const std::uint32_t calls = SyscallCounter::calls(number);
    if (calls == 0) continue;
    SyscallCount* kind = std::find_if(&tally.kinds[0], &tally.kinds[tally.used],
                                      [&](const SyscallCount& known) { return known.number == number; });
    if (kind == &tally.kinds[kSyscallKinds]) {
      tally.incomplete = 1;
      return;
    }
    if (kind == &tally.kinds[tally.used]) {
      ++tally.used;
      *kind = {static_cast<std::uint32_t>(number), 0};
    }
    kind->calls += calls;
  }
}

/// Whether the allocator asks the kernel about its own mappings, as largecache does. Write protection by userfaultfd
/// would appear in the kernel's answers and change the allocator's behavior. Such an allocator therefore exports this
/// function. (The function is a weak reference. dlsym allocates when it finds nothing, which would change the
/// measurement.)
bool watches_its_mappings() { return malloc_watches_its_mappings != nullptr && malloc_watches_its_mappings() != 0; }

}  // namespace

AuditMeter::AuditMeter(SampleBlock& samples) : samples_(samples) {
  // The driver starts the process without huge pages. This call is for probes that a person starts directly.
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  samples.got_slots = static_cast<std::uint32_t>(ZeroingHook::install());
  if (samples.got_slots == 0) say(samples.na_zeroed, "no loaded object calls memset through a GOT slot");
  if (pagemap_.method() == Pagemap::Method::kNone) {
    say(samples.na_redundant, pagemap_.reason());
    say(samples.na_populated, pagemap_.reason());
    say(samples.na_inline, pagemap_.reason());
    say(samples.na_pages, pagemap_.reason());
    say(samples.na_zero_page, pagemap_.reason());
  } else if (watches_its_mappings()) {
    say(samples.na_inline, "this allocator watches its own mappings, and write protection would change the mappings");
  } else if (!tracker_.available()) {
    say(samples.na_inline, tracker_.reason());
  } else if (tracker_.method() == WriteTracker::Method::kAsynchronous && pagemap_.method() != Pagemap::Method::kScan) {
    say(samples.na_inline, pagemap_.no_scan_reason());
  }
  if (pagemap_.method() != Pagemap::Method::kNone && !pagemap_.knows_zero_page()) {
    say(samples.na_zero_page, "the shared zero page cannot be distinguished from a page that was written to");
  }
  if (const char* refusal = SyscallCounter::install()) {
    say(samples.na_syscalls, refusal);
    account_.give_up(refusal);
  } else {
    count_syscalls_ = true;
  }
}

void AuditMeter::begin_operation(OpSample& op) {
  op_ = &op;
  op_->zeroed_bytes = 0;
  op_->redundant_zeroed_bytes = 0;
  op_->zeroed_in_free_bytes = 0;
  op_->redundant_zeroed_in_free_bytes = 0;
  unseen_ = false;
  unseen_in_free_ = false;
  has_twin_ = another_process_has_this_memory();
  account_.begin_operation(op);
  // A caller of malloc does not request zeros, so a search for stores of zeros would have to inspect every page.
  if (mallocs() && inline_watched()) say(samples_.na_inline, "of a case that mallocs, only memsets are counted");
}

void AuditMeter::end_operation() {
  account_.end_step(true);
  account_.end_operation();
  if (unseen_) op_->zeroed_bytes = op_->redundant_zeroed_bytes = kNotMeasured;
  if (unseen_in_free_) op_->zeroed_in_free_bytes = op_->redundant_zeroed_in_free_bytes = kNotMeasured;
}

void AuditMeter::begin_call(bool in_free) {
  in_free_ = in_free;
  filled_ = FilledPages(block_);
  claims_ = memset_beside_ = 0;
  memset_faults_ = 0;
  doubt_ = "";
  unfollowed_ = Unfollowed::kNothing;
  for (FewRanges* ranges : {&dropped_, &hidden_, &populated_, &new_, &stored_, &unsure_, &lost_, &moved_}) {
    ranges->clear();
  }
  zero_filled_ = {};
  opened_dirty_.clear();
  store_count_ = 0;
  // Faults that the meter has taken since the last reading must not count as faults of another thread.
  faults_ = thread_minor_faults();
  all_faults_ = process_minor_faults();
  others_ns_ = thread_cpu_ns();
  others_ns_ = own_cpu_ns() - others_ns_;
  if (count_syscalls_) heap_end_ = program_break();
  if (count_syscalls_) give_up_counting(SyscallCounter::begin(this));
  ZeroingHook::listen(this);  // called last, so that the hook does not see the counter clear its counts
  followed_ = count_syscalls_;
}

void AuditMeter::end_call(SyscallTally& calls) {
  if (count_syscalls_) give_up_counting(SyscallCounter::end());
  ZeroingHook::listen(nullptr);
  if (count_syscalls_) tally(calls);
  const std::int64_t all_ns = own_cpu_ns();
  others_ns_ = all_ns - thread_cpu_ns() - others_ns_;
  if (all_faults_ >= 0) all_faults_ = process_minor_faults() - all_faults_;
  if (faults_ >= 0) faults_ = thread_minor_faults() - faults_;
  alone_ = memory_is_unshared();
  if (::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != 1) huge_pages_ = true;
  const FewRanges* const all[] = {&dropped_, &hidden_, &populated_, &new_, &stored_, &unsure_, &lost_, &moved_};
  if (std::any_of(std::begin(all), std::end(all), [](const FewRanges* ranges) { return ranges->full(); })) {
    unfollowed_ = Unfollowed::kTakesAway;
  }
  followed_ = count_syscalls_ && !SyscallCounter::incomplete() && unfollowed_ == Unfollowed::kNothing;
  account_.end_step(followed_ && !has_twin_ && all_faults_ <= faults_);
  // If another thread returned a page and this thread populated it again, the page is populated before and after the
  // call, so it does not count as new.
  const std::int64_t left_nothing =
      faults_ - memset_faults_ - account_.new_bytes() / static_cast<std::int64_t>(page_bytes());
  others_drop_ = !alone_ && others_ns_ > 0 && left_nothing >= kManyFaults;
  if (others_drop_) account_.forget_step();
}

void AuditMeter::give_up_counting(const char* why) {
  if (why == nullptr) return;
  if (samples_.na_syscalls[0] == '\0') say(samples_.na_syscalls, why);
  account_.give_up(why);
  count_syscalls_ = false;
}

bool AuditMeter::look_at(AddressRange pages) {
  watched_.clear();
  written_.clear();
  if (inline_watched()) {
    tracker_.watched(pages, watched_);
    tracker_.written(pagemap_, pages, written_);
  }
  readable_.clear();
  anonymous_.clear();
  for_each_mapping([&](const Mapping& mapping) {
    const AddressRange common = mapping.range.intersect(pages);
    if (common.bytes() == 0 || !mapping.readable) return;
    readable_.add(common);
    if (mapping.zero_filled()) anonymous_.add(common);
  });
  populated_after_.clear();
  return samples_.na_populated[0] == '\0' && pagemap_.populated(pages, populated_after_);
}

void AuditMeter::count_zeros_of(AddressRange pages) {
  for (const AddressRange& range : populated_after_) {
    const AddressRange common = range.intersect(pages);
    for (std::uintptr_t page = common.begin; page < common.end; page += page_bytes()) {
      const AddressRange part = block_.intersect({page, page + page_bytes()});
      const std::size_t covered = covered_by_memset(part);
      if (covered == part.bytes() || (in_free_ && hidden_.contains(page))) continue;
      const std::size_t rest = part.bytes() - covered;
      if (!readable_.contains(page)) {
        doubt_ = "pages of the block can no longer be read";
        count(watched_.contains(page) && !written_.contains(page) ? Store::kNone : Store::kUnknown, part, rest);
      } else if (all_zero(reinterpret_cast<const void*>(part.begin), part.bytes())) {
        count(store_to(page, covered > 0), part, rest);
      }
    }
  }
}

AuditMeter::Store AuditMeter::doubt(const char* why) {
  doubt_ = why;
  return Store::kUnknown;
}

AuditMeter::Store AuditMeter::store_to(std::uintptr_t page, bool by_memset) {
  if (moved_.contains(page)) return doubt("pages were moved into the block");
  if (!anonymous_.contains(page)) {
    return doubt("the block is in a shared or file mapping, whose pages may be written through other mappings");
  }
  const bool stored = stored_.contains(page);
  const bool watched = watched_.contains(page);
  if (watched && !written_.contains(page) && !stored) return Store::kNone;
  if (by_memset && !inline_watched()) {
    // A memset normally writes only the first and the last page of the block in part. na_inline reports that inline
    // stores go unseen.
    ++memset_beside_;
    return memset_beside_ <= 2 ? Store::kNone : doubt("memset wrote parts of pages, and the rest is unknown");
  }
  if (!followed_ || unfollowed_ != Unfollowed::kNothing) {
    return doubt(!count_syscalls_               ? &samples_.na_syscalls[0]
                 : SyscallCounter::incomplete() ? SyscallCounter::why_incomplete()
                                                : "the call makes system calls that are not followed");
  }
  if (unsure_.contains(page)) return doubt("nothing tells who wrote to these pages");
  if (!in_free_ && hidden_.contains(page))
    return doubt("the kernel was allowed to take pages of the block (MADV_FREE)");
  // New pages are pages that the kernel populated in this call, and pages that are populated now but were not before.
  const bool fresh = dropped_.contains(page) || !populated_before_.contains(page);
  return fresh && !populated_.contains(page) ? store_to_new(by_memset, stored || watched) : store_to_old(page, stored);
}

AuditMeter::Store AuditMeter::store_to_old(std::uintptr_t page, bool stored) {
  const bool fresh = dropped_.contains(page) || !populated_before_.contains(page) || new_.contains(page);
  const bool dirty = !fresh && (dirty_before_.contains(page) || opened_dirty_.contains(page));
  if (!watched_.contains(page) && !stored) {
    // A page that was dirty before the call and is zero after the call was written to. The exception is a page that
    // another thread or process may have replaced.
    if (dirty && alone_) return Store::kZerosOverDirty;
    return doubt(inline_watched() ? "nothing tells who wrote to these pages" : &samples_.na_inline[0]);
  }
  ++claims_;
  return dirty ? Store::kZerosOverDirty : Store::kZeros;
}

AuditMeter::Store AuditMeter::store_to_new(bool by_memset, bool stored) {
  // A page that is new and zero was written to, unless the page may only have been read, or the kernel may have
  // populated it.
  if (!pagemap_.knows_zero_page())
    return doubt("the shared zero page cannot be distinguished from a page that was written to");
  if (huge_pages_) return doubt("the allocator allows huge pages, and one store to a huge page populates 512 pages");
  if (by_memset && !stored) return doubt("memset wrote parts of pages, and the rest is unknown");
  ++claims_;
  return Store::kZeros;
}

void AuditMeter::count(Store store, AddressRange part, std::size_t bytes) {
  switch (store) {
    case Store::kNone:
      break;
    case Store::kUnknown:
      // An unknown store to a page that the block shares is ignored, unless the block has no page of its own.
      if (part.bytes() == page_bytes()) forget_zeroed_bytes(doubt_);
      if (filled_.has_no_page()) forget_zeroed_bytes("the block has no page of its own");
      break;
    case Store::kZeros:
    case Store::kZerosOverDirty:
      filled_.add(part, bytes, store == Store::kZerosOverDirty);
      break;
  }
}

const char* AuditMeter::why_not_own_stores() const {
  if (has_twin_ || (!alone_ && another_process_has_this_memory()))
    return "another process has the same memory, and may have written to it";
  // The first store to each of the `claims_` pages takes a fault. If this thread took fewer faults, another thread may
  // have stored zeros, or made the kernel populate pages. The bytes of new_bytes() include a few pages of the meter's
  // own lists.
  const auto page = static_cast<std::int64_t>(page_bytes());
  const bool others_may = !alone_ && claims_ > 0;
  if (faults_ >= 0 && (static_cast<std::int64_t>(claims_) > faults_ - memset_faults_ ||
                       (others_may && account_.new_bytes() / page >= faults_ + kManyFaults))) {
    return "another thread or process, or a huge page, populated pages of the block";
  }
  if (claims_ > 0 && !alone_ && all_faults_ > faults_) {
    return "another thread took page faults during the call, and may have populated pages of the block";
  }
  return nullptr;
}

void AuditMeter::doubt_what_is_gone() {
  if (covered_by_memset(block_) == block_.bytes()) return;
  for (const AddressRange& pages : lost_) {
    const AddressRange part = block_.intersect(pages);
    if (part.bytes() > 0 && covered_by_memset(part) < part.bytes()) {
      return forget_zeroed_bytes("pages of the block were zeroed or populated, and then returned to the kernel");
    }
  }
  const bool seen = count_syscalls_ && !SyscallCounter::incomplete() && unfollowed_ != Unfollowed::kTakesAway;
  if ((seen && alone_) || all_faults_ < 0) return;
  // Zeros that were stored and removed unseen leave no pages, but they cost a fault per page.
  const auto page = static_cast<std::int64_t>(page_bytes());
  const std::int64_t pages = static_cast<std::int64_t>(block_.pages().bytes()) / page;
  const std::int64_t faults =
      all_faults_ - memset_faults_ - account_.new_bytes() / page - static_cast<std::int64_t>(claims_);
  if (faults >= std::max(pages / 4, kManyFaults)) {
    forget_zeroed_bytes(
        "page faults of the call left no pages, and the system calls that removed them were not followed");
  }
}

void AuditMeter::add_filled() {
  if (filled_.is_doubtful()) return forget_zeroed_bytes("the block has no page of its own");
  const FilledPages::Bytes bytes = filled_.total();
  if (bytes.all == 0) return;
  if (const char* why = why_not_own_stores()) return forget_zeroed_bytes(why);
  const Zeros zeros = this->zeros();
  zeros.methods |= kByInline;
  zeros.all += static_cast<std::int64_t>(bytes.all);
  zeros.redundant += static_cast<std::int64_t>(bytes.all - bytes.dirty);
  if (others_drop_ && bytes.dirty > 0) {
    say(samples_.na_redundant,
        "another thread ran during the call, and may have returned pages before they were cleared");
  }
}

AuditMeter::Zeros AuditMeter::zeros() const {
  if (in_free_) return {op_->zeroed_in_free_bytes, op_->redundant_zeroed_in_free_bytes, op_->free_methods};
  return {op_->zeroed_bytes, op_->redundant_zeroed_bytes, op_->methods};
}

void AuditMeter::forget_zeroed_bytes(const char* why) {
  (in_free_ ? unseen_in_free_ : unseen_) = true;
  char(&reason)[2 * kReasonBytes] = in_free_ ? samples_.na_unseen_in_free : samples_.na_unseen;
  if (reason[0] != '\0') return;
  std::snprintf(&reason[0], sizeof reason, "stores other than memset may have gone unseen: %s", why);
}

}  // namespace zerotax
