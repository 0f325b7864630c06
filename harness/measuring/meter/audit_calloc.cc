#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "meter/audit.h"
#include "meter/contents.h"
#include "os/faults.h"
#include "os/mappings.h"

// Counts the bytes that memset zeroed, exactly, and the bytes that other stores zeroed in the same pages.

namespace zerotax {

template <typename Visit>
void AuditMeter::for_each_partial_page(AddressRange range, Visit visit) {
  const AddressRange pages = range.pages();
  const AddressRange first{pages.begin, pages.begin + page_bytes()};
  const AddressRange last{pages.end - page_bytes(), pages.end};
  if (range.intersect(first).bytes() < page_bytes()) visit(first.begin);
  if (last.begin != first.begin && range.intersect(last).bytes() < page_bytes()) visit(last.begin);
}

void AuditMeter::before_zeroing(void* target, std::size_t bytes) {
  // System calls and faults from here on are the meter's own.
  const SyscallCounter::Pause pause;
  const AddressRange range = range_of(target, bytes);
  if (inline_watched()) for_each_partial_page(range, [&](std::uintptr_t page) { note_stores_beside(page); });
  tracker_.release({page_ceiling(range.begin), page_floor(range.end)});
  remember_store(range);

  const Zeros zeros = this->zeros();
  zeros.all += static_cast<std::int64_t>(bytes);
  zeros.methods |= kByMemset;
  scratch_.clear();
  if (pagemap_.populated(range.pages(), scratch_)) {
    zeros.redundant += static_cast<std::int64_t>(bytes - dirty_bytes_of(range));
  } else if (samples_.na_redundant[0] == '\0') {
    say(samples_.na_redundant, "the kernel refused to scan the pagemap");
  }
  memset_began_ = thread_minor_faults();
}

void AuditMeter::after_zeroing(void* target, std::size_t bytes) {
  const SyscallCounter::Pause pause;
  if (memset_began_ >= 0) memset_faults_ += thread_minor_faults() - memset_began_;
  if (!inline_watched()) return;
  for_each_partial_page(range_of(target, bytes), [&](std::uintptr_t page) {
    tracker_.watch_again({page, page + page_bytes()}, pagemap_);
  });
}

void AuditMeter::note_stores_beside(std::uintptr_t page) {
  const AddressRange range{page, page + page_bytes()};
  scratch_.clear();
  if (!pagemap_.populated(range, scratch_) || scratch_.size() == 0) return;
  if (tracker_.is_watched(range)) {
    if (tracker_.is_written(pagemap_, range)) stored_.add(range);
  } else if ((!populated_before_.contains(page) || dropped_.contains(page)) && !populated_.contains(page)) {
    stored_.add(range);
  } else {
    unsure_.add(range);
  }
}

std::size_t AuditMeter::dirty_bytes_of(AddressRange range) {
  std::size_t populated = 0;
  for (const AddressRange& pages : scratch_) populated += pages.bytes();
  const AddressRange pages = range.pages();
  if (populated < pages.bytes() && zero_filled_.intersect(pages).bytes() < pages.bytes()) {
    // A page of a file mapping holds the file's contents even before it is populated. Reading it here changes nothing,
    // because memset is about to populate it.
    RangeList& readable = readable_;
    readable.clear();
    for_each_mapping([&](const Mapping& mapping) {
      const AddressRange common = mapping.range.intersect(pages);
      if (common.bytes() == 0 || !mapping.readable) return;
      if (mapping.zero_filled()) {
        if (common.bytes() == pages.bytes()) zero_filled_ = mapping.range;
        pagemap_.populated(common, readable);
      } else {
        readable.add(common);
      }
    });
    return dirty_bytes(range, readable);
  }
  return dirty_bytes(range, scratch_);
}

void AuditMeter::remember_store(AddressRange range) {
  // Adjacent small stores are merged.
  AddressRange* last = store_count_ > 0 ? &stores_[store_count_ - 1] : nullptr;
  if (last != nullptr && range.begin >= last->begin && range.begin <= last->end) {
    last->end = std::max(last->end, range.end);
  } else if (store_count_ < kStores) {
    stores_[store_count_++] = range;
  }
}

std::size_t AuditMeter::covered_by_memset(AddressRange part) const {
  // Counts bytes from the start of the part on, as long as some store covers the next byte.
  std::size_t covered = 0;
  for (std::uintptr_t at = part.begin; at < part.end;) {
    std::uintptr_t end = at;
    std::uintptr_t next = part.end;
    for (std::size_t i = 0; i < store_count_; ++i) {
      const AddressRange store = stores_[i].intersect(part);
      if (store.bytes() == 0) continue;
      if (store.begin <= at) {
        end = std::max(end, store.end);
      } else {
        next = std::min(next, store.begin);
      }
    }
    covered += end > at ? end - at : 0;
    at = end > at ? end : next;
  }
  return covered;
}

}  // namespace zerotax

// Counts the bytes that calloc zeroed, from the pages of its block before and after the call.

namespace zerotax {
namespace {

/// Required alignment of a block of at least this many bytes. A smaller block only needs the alignment of smaller
/// objects.
constexpr std::size_t kAlignment = alignof(std::max_align_t);

/// Returns the largest power of two that divides an address.
std::uint32_t alignment_of(std::uintptr_t address) { return static_cast<std::uint32_t>(address & -address); }

}  // namespace

void* AuditMeter::allocate(std::size_t bytes) {
  look_before_calloc();
  block_ = {};
  begin_call(false);
  void* block = call_allocator(bytes);
  end_call(op_->calloc_syscalls);
  escape(block);
  if (block == nullptr) {
    tracker_.stop();
    return nullptr;
  }
  add_to(op_->requested_bytes, static_cast<std::int64_t>(bytes));
  samples_.phase = Phase::kCheck;
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  block_ = {begin, begin + bytes};
  filled_ = FilledPages(block_);
  look_after_calloc(block_);
  note_place(block_);
  // A block from malloc need not be zero.
  const std::size_t dirty_offset = mallocs() ? bytes : check_zero(block, bytes, pagemap_, scratch_);
  if (dirty_offset < bytes && op_->not_zero == 0) {
    op_->not_zero = 1;
    op_->not_zero_offset = dirty_offset;
  }
  if (!mallocs()) remember_block(block_);
  if (live_count_ < kLive) live_[live_count_++] = block_;
  return block;
}

template <typename Touch>
void AuditMeter::look_at_touch(const void* block, std::size_t bytes, const Touch& touch) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const AddressRange range{begin, begin + bytes};
  const auto populated = [&] {
    scratch_.clear();
    std::size_t sum = 0;
    if (samples_.na_populated[0] == '\0') pagemap_.populated(range.pages(), scratch_);
    for (const AddressRange& pages : scratch_) sum += pages.intersect(range).bytes();
    return static_cast<std::int64_t>(sum);
  };
  const auto zero_pages = [&] {
    scratch_.clear();
    pagemap_.zero_pages(range.pages(), scratch_);
    return bytes_of(scratch_) / static_cast<std::int64_t>(page_bytes());
  };
  const std::int64_t before = populated();
  const std::int64_t zeros_before = zero_pages();
  touch();
  add_to(op_->touch_populated_bytes, populated() - before);
  // A write may replace the shared zero page by another page, so the difference may be negative.
  if (samples_.na_zero_page[0] == '\0') {
    add_to(op_->zero_page_faults, std::max<std::int64_t>(zero_pages() - zeros_before, 0));
  }
  account_.end_step(true);
}

void AuditMeter::touch(void* block, std::size_t bytes, double fraction) {
  look_at_touch(block, bytes, [&] { Meter::touch(block, bytes, fraction); });
}

void AuditMeter::read(void* block, std::size_t bytes, double fraction) {
  look_at_touch(block, bytes, [&] { Meter::read(block, bytes, fraction); });
}

void AuditMeter::note_place(AddressRange block) {
  for_each_mapping([&](const Mapping& mapping) {
    if (mapping.heap && block.begin >= mapping.range.begin && block.begin < mapping.range.end) op_->in_heap = 1;
  });
  if (block.bytes() >= kAlignment && block.begin % kAlignment != 0 && op_->misaligned == 0) {
    op_->misaligned = alignment_of(block.begin);
  }
}

void AuditMeter::look_before_calloc() {
  look_for_late_zeros();
  populated_before_.clear();
  dirty_before_.clear();
  if (samples_.na_populated[0] == '\0') {
    const bool done = populated_pages(pagemap_, populated_before_);
    if (!done) {
      say(samples_.na_populated, "too much is mapped to read the pagemap page by page (PAGEMAP_SCAN can list it)");
      if (inline_watched()) say(samples_.na_inline, samples_.na_populated);
    }
  }
  if (!inline_watched()) return;

  for (std::size_t i = 0; i < block_count_; ++i) {
    // Reads only the pages of a freed block that are still mapped.
    scratch_.clear();
    for_each_mapping([&](const Mapping& mapping) {
      const AddressRange common = mapping.range.intersect(blocks_[i].pages());
      if (common.bytes() > 0 && mapping.readable && mapping.zero_filled()) {
        pagemap_.populated(common, scratch_);
      }
    });
    find_dirty_pages(blocks_[i], scratch_, dirty_before_);
  }
  for (std::size_t i = 0; i < block_count_; ++i) tracker_.watch(blocks_[i].pages(), pagemap_);
}

void AuditMeter::look_after_calloc(AddressRange block) {
  const bool known = look_at(block.pages());
  tracker_.stop();
  if (mallocs()) {
    if (known) count_populated(block);
    return;
  }
  if (!known) {
    if (covered_by_memset(block) < block.bytes()) {
      forget_zeroed_bytes(inline_watched() ? "the pagemap cannot be read" : &samples_.na_inline[0]);
    }
    return;
  }
  count_populated(block);
  // If there are more calls to memset than can be remembered, stores might be counted twice.
  if (store_count_ == kStores) return forget_zeroed_bytes("the call makes more calls to memset than fit in the buffer");
  count_zeros_of(block.pages());
  doubt_shared_pages(block);
  doubt_what_is_gone();
  add_filled();
}

void AuditMeter::count_populated(AddressRange block) {
  std::size_t populated = 0;
  for (const AddressRange& pages : populated_after_) {
    for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
      if (!populated_before_.contains(page)) populated += block.intersect({page, page + page_bytes()}).bytes();
    }
  }
  add_to(op_->populated_bytes, static_cast<std::int64_t>(populated));
}

void AuditMeter::doubt_shared_pages(AddressRange block) {
  // A page of a shared mapping or file may have been written to from elsewhere, even if this process has not populated
  // the page.
  constexpr std::size_t kPages = 1024;
  unsigned char resident[kPages];
  for (std::uintptr_t page = block.pages().begin; page < block.pages().end;) {
    if (anonymous_.contains(page)) {
      page += page_bytes();
      continue;
    }
    const std::size_t pages = std::min(kPages, (block.pages().end - page) / page_bytes());
    const bool told = ::mincore(reinterpret_cast<void*>(page), pages * page_bytes(), &resident[0]) == 0;
    for (std::size_t i = 0; i < pages; ++i, page += page_bytes()) {
      if (anonymous_.contains(page) || populated_after_.contains(page) || (told && (resident[i] & 1) == 0)) continue;
      const AddressRange part = block.intersect({page, page + page_bytes()});
      const std::size_t covered = covered_by_memset(part);
      if (covered == part.bytes() || !all_zero(reinterpret_cast<const void*>(part.begin), part.bytes())) continue;
      count(doubt("the block is in a shared or file mapping, whose pages may be written through other mappings"), part,
            part.bytes() - covered);
    }
  }
}

void AuditMeter::remember_block(AddressRange block) {
  if (block.bytes() < page_bytes()) block = block.pages();
  // Overlapping blocks are merged, so that no page is watched twice.
  for (std::size_t i = 0; i < block_count_;) {
    if (blocks_[i].intersect(block).bytes() == 0) {
      ++i;
      continue;
    }
    block = {std::min(block.begin, blocks_[i].begin), std::max(block.end, blocks_[i].end)};
    blocks_[i] = blocks_[--block_count_];
  }
  if (block_count_ == kBlocks) return;
  // Blocks are kept in ascending order, as RangeList requires.
  AddressRange* at = std::find_if(&blocks_[0], &blocks_[block_count_],
                                  [&](const AddressRange& other) { return other.begin > block.begin; });
  std::move_backward(at, &blocks_[block_count_], &blocks_[block_count_ + 1]);
  *at = block;
  ++block_count_;
}

}  // namespace zerotax
