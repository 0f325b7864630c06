#include "meter/audit.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "meter/contents.h"
#include "os/mappings.h"
#include "os/syscall_counter.h"

extern "C" [[gnu::weak]] int malloc_watches_its_mappings();

namespace zerotax {
namespace {

constexpr AddressRange kUserSpace{0, 0x7fff'ffff'f000};
/// Reading the pagemap entry by entry costs 8 bytes a page: beyond this much mapped memory the pass would take minutes.
constexpr std::size_t kReadableBytes = std::size_t{8} << 30;

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

/// Only pages that lie wholly within: a neighbour's bytes on a shared page are not ours to watch.
AddressRange whole_pages_of(AddressRange range) {
  const AddressRange inner{page_ceiling(range.begin), page_floor(range.end)};
  return inner.begin < inner.end ? inner : AddressRange{};
}

/// The populated pages of all mappings, for a kernel that must be asked page by page. False if there is too much
/// mapped.
bool read_whole_process(const Pagemap& pagemap, RangeList& populated) {
  std::size_t mapped = 0;
  bool done = true;
  for_each_mapping([&](const Mapping& mapping) {
    // [vsyscall] lies beyond user space, and has no pagemap entry to read.
    if ((!mapping.readable && !mapping.writable) || mapping.range.begin >= kUserSpace.end) return;
    mapped += mapping.range.bytes();
    done = done && mapped <= kReadableBytes && pagemap.populated(mapping.range, populated);
  });
  return done;
}

/// An allocator that asks the kernel about its own mappings, as largecache does, says so by this function: write
/// protection by userfaultfd would show in the answers, and it would do something else than it does unwatched.
/// (A weak reference, not dlsym: that allocates when it finds nothing, and so changes what is measured.)
bool watches_its_mappings() { return malloc_watches_its_mappings != nullptr && malloc_watches_its_mappings() != 0; }

}  // namespace

AuditMeter::AuditMeter(Record& record) : record_(record) {
  // A huge page would be populated whole by one store, and zeroed bytes are counted by page.
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  record.got_slots = static_cast<std::uint32_t>(ZeroingHook::install());
  if (record.got_slots == 0) say(record.na_zeroed, "no loaded object calls memset through a GOT slot");
  if (pagemap_.method() == Pagemap::Method::kNone) {
    say(record.na_redundant, pagemap_.reason());
    say(record.na_populated, pagemap_.reason());
    say(record.na_inline, pagemap_.reason());
  } else if (watches_its_mappings()) {
    say(record.na_inline, "this allocator watches its own mappings, and write protection would change them");
  } else if (!tracker_.available()) {
    say(record.na_inline, tracker_.reason());
  } else if (pagemap_.method() != Pagemap::Method::kScan) {
    say(record.na_inline, "this kernel has no PAGEMAP_SCAN (Linux 6.7)");
  }
  if (const char* refusal = SyscallCounter::install()) {
    say(record.na_syscalls, refusal);
  } else {
    count_syscalls_ = true;
  }
}

void AuditMeter::begin_operation(OpRecord& op) {
  op_ = &op;
  op_->zeroed_bytes = 0;
  op_->redundant_zeroed_bytes = 0;
  unseen_ = false;
}

void AuditMeter::end_operation() {
  if (!unseen_) return;
  op_->zeroed_bytes = kNotMeasured;
  op_->redundant_zeroed_bytes = kNotMeasured;
}

void* AuditMeter::allocate(std::size_t bytes) {
  store_count_ = 0;
  look_before();

  ZeroingHook::listen(this);
  if (count_syscalls_) SyscallCounter::begin();
  void* block = std::calloc(bytes, 1);
  if (count_syscalls_) SyscallCounter::end();
  ZeroingHook::listen(nullptr);
  escape(block);

  if (count_syscalls_) tally(op_->calloc_syscalls);
  populate_requested_ = count_syscalls_ && SyscallCounter::populate_requested();
  if (block == nullptr) {
    tracker_.stop();
    return nullptr;
  }
  record_.phase = Phase::kCheck;
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const AddressRange range{begin, begin + bytes};
  look_after(range);
  const std::size_t dirty_offset = check_zero(block, bytes, pagemap_, scratch_);
  for_each_mapping([&](const Mapping& mapping) {
    if (mapping.heap && begin >= mapping.range.begin && begin < mapping.range.end) op_->in_heap = 1;
  });
  if (dirty_offset < bytes && op_->not_zero == 0) {
    op_->not_zero = 1;
    op_->not_zero_offset = dirty_offset;
  }
  remember_block(range);
  return block;
}

void AuditMeter::release(void* block) {
  if (count_syscalls_) SyscallCounter::begin();
  std::free(block);
  if (count_syscalls_) {
    SyscallCounter::end();
    tally(op_->free_syscalls);
  }
}

void AuditMeter::before_zeroing(void* target, std::size_t bytes) {
  // Our own system calls and faults, not the allocator's.
  const SyscallCounter::Pause pause;
  const auto begin = reinterpret_cast<std::uintptr_t>(target);
  const AddressRange range{begin, begin + bytes};
  tracker_.release(range.pages());
  if (store_count_ < kStores) stores_[store_count_++] = range;

  op_->zeroed_bytes += static_cast<std::int64_t>(bytes);
  op_->methods |= kByMemset;
  scratch_.clear();
  if (!pagemap_.populated(range.pages(), scratch_)) {
    if (record_.na_redundant[0] == '\0') say(record_.na_redundant, "the kernel refused to scan the pagemap");
    return;
  }
  op_->redundant_zeroed_bytes += static_cast<std::int64_t>(bytes - dirty_bytes(range, scratch_));
}

void AuditMeter::look_before() {
  populated_before_.clear();
  dirty_before_.clear();
  if (record_.na_populated[0] == '\0') {
    const bool done = pagemap_.method() == Pagemap::Method::kScan ? pagemap_.populated(kUserSpace, populated_before_)
                                                                  : read_whole_process(pagemap_, populated_before_);
    if (!done) {
      say(record_.na_populated, "too much is mapped to read the pagemap page by page (Linux 6.7 can scan it)");
      if (record_.na_inline[0] == '\0') say(record_.na_inline, record_.na_populated);
    }
  }
  if (record_.na_inline[0] != '\0') return;

  for (std::size_t i = 0; i < block_count_; ++i) {
    // Of a block that was freed, only what is still there may be read.
    scratch_.clear();
    for_each_mapping([&](const Mapping& mapping) {
      const AddressRange common = mapping.range.intersect(blocks_[i].pages());
      if (common.bytes() > 0 && mapping.readable && mapping.zero_filled()) {
        pagemap_.populated(common, scratch_);
      }
    });
    find_dirty_pages(blocks_[i], scratch_, dirty_before_);
  }
  for (std::size_t i = 0; i < block_count_; ++i) tracker_.watch(blocks_[i].pages());
}

void AuditMeter::look_after(AddressRange block) {
  watched_.clear();
  written_.clear();
  if (record_.na_inline[0] == '\0') {
    tracker_.watched(block.pages(), watched_);
    tracker_.written(pagemap_, block.pages(), written_);
  }
  tracker_.stop();

  populated_after_.clear();
  if (record_.na_populated[0] != '\0' || !pagemap_.populated(block.pages(), populated_after_)) {
    if (!covered_by_memset(block)) forget_zeroed_bytes();
    return;
  }
  std::size_t populated = 0;
  for (const AddressRange& pages : populated_after_) {
    for (std::uintptr_t page = pages.begin; page < pages.end; page += kPageBytes) {
      if (!populated_before_.contains(page)) populated += block.intersect({page, page + kPageBytes}).bytes();
    }
  }
  add_to(op_->populated_bytes, static_cast<std::int64_t>(populated));
  // A call with more memsets than can be remembered could have its stores counted twice.
  if (!populate_requested_ && store_count_ < kStores) count_inline(block);
}

void AuditMeter::count_inline(AddressRange block) {
  struct Filled {
    std::size_t bytes = 0;
    std::size_t dirty = 0;  // of them, not zero before
  };
  // A page that the block shares with a header or another block proves nothing by itself: somebody else may have
  // written there. It counts when the page next to it, inside the block, was filled.
  Filled inside;
  Filled head;
  Filled tail;
  bool first_filled = false;
  bool last_filled = false;
  const AddressRange whole = whole_pages_of(block);
  for (const AddressRange& pages : populated_after_) {
    for (std::uintptr_t page = pages.begin; page < pages.end; page += kPageBytes) {
      const AddressRange part = block.intersect({page, page + kPageBytes});
      if (touched_by_memset(part) || !all_zero(reinterpret_cast<const void*>(part.begin), part.bytes())) continue;
      const bool shared = part.bytes() < kPageBytes;
      const bool fresh = !populated_before_.contains(page);
      // A page that is new and zero was written to, unless it may only have been read, or the kernel may have populated
      // it.
      const bool proves_nothing = fresh ? !pagemap_.knows_zero_page() || !count_syscalls_ : !watched_.contains(page);
      if (proves_nothing) {
        // Zero before and after, or zeroed from whatever it was: nobody can tell.
        if (!shared) return forget_zeroed_bytes();
        continue;
      }
      if (!fresh && !written_.contains(page)) continue;
      Filled& filled = !shared ? inside : part.begin < whole.begin ? head : tail;
      filled.bytes += part.bytes();
      if (!fresh && dirty_before_.contains(page)) filled.dirty += part.bytes();
      first_filled = first_filled || page == whole.begin;
      last_filled = last_filled || page + kPageBytes == whole.end;
    }
  }
  for (const auto& [counts, edge] : {std::pair{first_filled, head}, {last_filled, tail}}) {
    if (!counts) continue;
    inside.bytes += edge.bytes;
    inside.dirty += edge.dirty;
  }
  // A block without a page of its own: what it shares its pages with may have been written, or the block itself.
  if (whole.bytes() == 0 && head.bytes + tail.bytes + inside.bytes > 0) return forget_zeroed_bytes();
  if (inside.bytes == 0) return;
  op_->methods |= kByInline;
  op_->zeroed_bytes += static_cast<std::int64_t>(inside.bytes);
  op_->redundant_zeroed_bytes += static_cast<std::int64_t>(inside.bytes - inside.dirty);
}

void AuditMeter::forget_zeroed_bytes() {
  unseen_ = true;
  if (record_.na_unseen[0] != '\0') return;
  std::snprintf(&record_.na_unseen[0], sizeof record_.na_unseen, "stores other than memset may have gone unseen: %s",
                record_.na_inline[0] != '\0' ? &record_.na_inline[0] : "nothing tells who wrote to these pages");
}

bool AuditMeter::touched_by_memset(AddressRange part) const {
  return std::any_of(&stores_[0], &stores_[store_count_],
                     [&](const AddressRange& store) { return store.intersect(part).bytes() > 0; });
}

bool AuditMeter::covered_by_memset(AddressRange block) const {
  return std::any_of(&stores_[0], &stores_[store_count_],
                     [&](const AddressRange& store) { return store.intersect(block).bytes() == block.bytes(); });
}

void AuditMeter::remember_block(AddressRange block) {
  if (block.bytes() < kPageBytes) return;
  // Overlapping blocks become one, so that no page is watched twice.
  for (std::size_t i = 0; i < block_count_;) {
    if (blocks_[i].intersect(block).bytes() == 0) {
      ++i;
      continue;
    }
    block = {std::min(block.begin, blocks_[i].begin), std::max(block.end, blocks_[i].end)};
    blocks_[i] = blocks_[--block_count_];
  }
  if (block_count_ == kBlocks) return;
  // In ascending order, as RangeList wants them.
  AddressRange* at = std::find_if(&blocks_[0], &blocks_[block_count_],
                                  [&](const AddressRange& other) { return other.begin > block.begin; });
  std::move_backward(at, &blocks_[block_count_], &blocks_[block_count_ + 1]);
  *at = block;
  ++block_count_;
}

}  // namespace zerotax
