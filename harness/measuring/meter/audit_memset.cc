// What memset zeroed, to the byte, and what was zeroed beside it in the same pages.
#include <algorithm>

#include "meter/audit.h"
#include "meter/contents.h"
#include "os/faults.h"
#include "os/mappings.h"

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
  // Our own system calls and faults, not the allocator's.
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
    // A page of a file holds what the file does, though it is not mapped yet. memset is about to populate it anyway.
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
  // Many small stores, one right after the other, are as one.
  AddressRange* last = store_count_ > 0 ? &stores_[store_count_ - 1] : nullptr;
  if (last != nullptr && range.begin >= last->begin && range.begin <= last->end) {
    last->end = std::max(last->end, range.end);
  } else if (store_count_ < kStores) {
    stores_[store_count_++] = range;
  }
}

std::size_t AuditMeter::covered_by_memset(AddressRange part) const {
  // From the start of the part on, as far as some store that covers the next byte goes.
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
