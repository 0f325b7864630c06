#include "meter/audit.h"

#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "meter/contents.h"
#include "meter/memory_call.h"
#include "os/faults.h"
#include "os/mappings.h"

extern "C" [[gnu::weak]] int malloc_watches_its_mappings();

namespace zerotax {
namespace {

/// Adds what was counted since the last begin().
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

/// An allocator that asks the kernel about its own mappings, as largecache does, says so by this function: write
/// protection by userfaultfd would show in the answers, and it would do something else than it does unwatched.
/// (A weak reference, not dlsym: that allocates when it finds nothing, and so changes what is measured.)
bool watches_its_mappings() { return malloc_watches_its_mappings != nullptr && malloc_watches_its_mappings() != 0; }

/// Whether the process has other threads: /proc/self/task has a folder for each.
bool has_other_threads() {
  struct stat task {};
  return ::stat("/proc/self/task", &task) != 0 || task.st_nlink > 3;
}

}  // namespace

AuditMeter::AuditMeter(SampleBlock& samples) : samples_(samples) {
  // A huge page would be populated whole by one store, and zeroed bytes are counted by page.
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
    say(samples.na_inline, "this allocator watches its own mappings, and write protection would change them");
  } else if (!tracker_.available()) {
    say(samples.na_inline, tracker_.reason());
  } else if (pagemap_.method() != Pagemap::Method::kScan) {
    say(samples.na_inline, "this kernel has no PAGEMAP_SCAN (Linux 6.7)");
  }
  if (pagemap_.method() != Pagemap::Method::kNone && !pagemap_.knows_zero_page()) {
    say(samples.na_zero_page, "the shared zero page cannot be told from a page that was written to");
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
  account_.begin_operation(op);
  // Whoever asks malloc for memory did not ask for zeros, and to look for stores of some costs a look at every page.
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
  new_pages_ = 0;
  doubt_ = "";
  beyond_following_ = false;
  for (FewRanges* ranges : {&dropped_, &hidden_, &populated_, &moved_}) ranges->clear();
  opened_dirty_.clear();
  store_count_ = 0;
  faults_ = thread_minor_faults();
  if (count_syscalls_) heap_end_ = program_break();
  ZeroingHook::listen(this);
  if (count_syscalls_) give_up_counting(SyscallCounter::begin(this));
  followed_ = count_syscalls_;
}

void AuditMeter::end_call(SyscallTally& calls) {
  if (count_syscalls_) give_up_counting(SyscallCounter::end());
  ZeroingHook::listen(nullptr);
  if (count_syscalls_) tally(calls);
  if (faults_ >= 0) faults_ = thread_minor_faults() - faults_;
  if (::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != 1) huge_pages_ = true;
  followed_ = count_syscalls_ && !SyscallCounter::incomplete() && !beyond_following_ && !dropped_.full() &&
              !hidden_.full() && !populated_.full() && !moved_.full();
  account_.end_step(followed_);
}

void AuditMeter::give_up_counting(const char* why) {
  if (why == nullptr) return;
  if (samples_.na_syscalls[0] == '\0') say(samples_.na_syscalls, why);
  account_.give_up(why);
  count_syscalls_ = false;
}

void AuditMeter::before_zeroing(void* target, std::size_t bytes) {
  // Our own system calls and faults, not the allocator's.
  const SyscallCounter::Pause pause;
  const auto begin = reinterpret_cast<std::uintptr_t>(target);
  const AddressRange range{begin, begin + bytes};
  tracker_.release(range.pages());
  remember_store(range);

  const Zeros zeros = this->zeros();
  zeros.all += static_cast<std::int64_t>(bytes);
  zeros.methods |= kByMemset;
  scratch_.clear();
  if (!pagemap_.populated(range.pages(), scratch_)) {
    if (samples_.na_redundant[0] == '\0') say(samples_.na_redundant, "the kernel refused to scan the pagemap");
    return;
  }
  zeros.redundant += static_cast<std::int64_t>(bytes - dirty_bytes(range, scratch_));
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
    for (std::uintptr_t page = common.begin; page < common.end; page += kPageBytes) {
      const AddressRange part = block_.intersect({page, page + kPageBytes});
      if (touched_by_memset(part) || hidden_.contains(page)) continue;
      if (!readable_.contains(page)) {
        doubt_ = "pages of the block can no longer be read";
        count(watched_.contains(page) && !written_.contains(page) ? Store::kNone : Store::kUnknown, part);
      } else if (all_zero(reinterpret_cast<const void*>(part.begin), part.bytes())) {
        count(store_to(page), part);
      }
    }
  }
}

AuditMeter::Store AuditMeter::store_to(std::uintptr_t page) {
  // What the kernel put there in this call is new, and so is what is populated now and was not before.
  const bool gone = dropped_.contains(page);
  const bool fresh = gone || !populated_before_.contains(page);
  const bool dirty = !fresh && (dirty_before_.contains(page) || opened_dirty_.contains(page));
  if (moved_.contains(page)) {
    doubt_ = "pages were moved into the block";
    return Store::kUnknown;
  }
  if (!anonymous_.contains(page)) {
    doubt_ = "the block lies in a shared or file mapping, whose pages may be written to elsewhere";
    return dirty ? Store::kZerosOverDirty : Store::kUnknown;
  }
  if (!fresh || populated_.contains(page)) {
    // What was not zero, and is, was written to, by whatever way.
    if (dirty) return Store::kZerosOverDirty;
    if (watched_.contains(page)) return written_.contains(page) ? Store::kZeros : Store::kNone;
    doubt_ = inline_watched() ? "nothing tells who wrote to these pages" : &samples_.na_inline[0];
    return Store::kUnknown;
  }
  // A page that is new and zero was written to, unless it may only have been read, or the kernel may have populated it.
  if (!pagemap_.knows_zero_page()) {
    doubt_ = "the shared zero page cannot be told from a page that was written to";
    return Store::kUnknown;
  }
  if (huge_pages_) {
    doubt_ = "the allocator allows huge pages, of which one store populates 512 pages";
    return Store::kUnknown;
  }
  if (!followed_) {
    doubt_ = !count_syscalls_               ? &samples_.na_syscalls[0]
             : SyscallCounter::incomplete() ? "the call started a thread or process, and was not followed from then on"
                                            : "the call populates memory by system calls that are not followed";
    return Store::kUnknown;
  }
  ++new_pages_;
  return Store::kZeros;
}

void AuditMeter::count(Store store, AddressRange part) {
  switch (store) {
    case Store::kNone:
      break;
    case Store::kUnknown:
      // Of a page that is shared, somebody else may have written the rest.
      if (part.bytes() == kPageBytes) forget_zeroed_bytes(doubt_);
      break;
    case Store::kZeros:
    case Store::kZerosOverDirty:
      filled_.add(part, store == Store::kZerosOverDirty);
      break;
  }
}

void AuditMeter::add_filled() {
  if (filled_.is_doubtful()) return forget_zeroed_bytes("the block has no page of its own");
  const FilledPages::Bytes bytes = filled_.total();
  if (bytes.all == 0) return;
  // A page that this thread stored to first took it a fault. Another thread may have stored zeros, or had the kernel
  // populate.
  if (faults_ >= 0 && new_pages_ > static_cast<std::size_t>(faults_) && has_other_threads()) {
    return forget_zeroed_bytes("another thread populated pages of the block");
  }
  const Zeros zeros = this->zeros();
  zeros.methods |= kByInline;
  zeros.all += static_cast<std::int64_t>(bytes.all);
  zeros.redundant += static_cast<std::int64_t>(bytes.all - bytes.dirty);
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

void AuditMeter::remember_store(AddressRange range) {
  // Many small stores, one right after the other, are as one.
  AddressRange* last = store_count_ > 0 ? &stores_[store_count_ - 1] : nullptr;
  if (last != nullptr && range.begin >= last->begin && range.begin <= last->end) {
    last->end = std::max(last->end, range.end);
  } else if (store_count_ < kStores) {
    stores_[store_count_++] = range;
  }
}

bool AuditMeter::touched_by_memset(AddressRange part) const {
  return std::any_of(&stores_[0], &stores_[store_count_],
                     [&](const AddressRange& store) { return store.intersect(part).bytes() > 0; });
}

bool AuditMeter::covered_by_memset(AddressRange block) const {
  return std::any_of(&stores_[0], &stores_[store_count_],
                     [&](const AddressRange& store) { return store.intersect(block).bytes() == block.bytes(); });
}

}  // namespace zerotax
