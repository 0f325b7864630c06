// What free zeroed: the pages of the block before the call, before each system call that takes some away, and after it.
#include <algorithm>
#include <cstdlib>

#include "meter/audit.h"
#include "meter/contents.h"
#include "os/mappings.h"

namespace zerotax {

void AuditMeter::release(void* block) {
  look_for_late_zeros();
  block_ = take_live(block);
  if (!mallocs()) look_before_free();
  begin_call(true);
  std::free(block);
  end_call(op_->free_syscalls);
  if (!mallocs()) look_after_free();
}

AddressRange AuditMeter::take_live(const void* block) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  AddressRange* const end = &live_[live_count_];
  AddressRange* found = std::find_if(&live_[0], end, [&](const AddressRange& live) { return live.begin == begin; });
  if (found == end) return {};
  const AddressRange taken = *found;
  *found = live_[--live_count_];
  return taken;
}

void AuditMeter::look_before_free() {
  populated_before_.clear();
  dirty_before_.clear();
  if (samples_.na_populated[0] != '\0') return;
  pagemap_.populated(block_.pages(), populated_before_);
  find_dirty_pages(block_, populated_before_, dirty_before_);
  if (inline_watched()) tracker_.watch(block_.pages(), pagemap_);
}

void AuditMeter::count_before_they_go(AddressRange pages) {
  const AddressRange going = pages.intersect(block_.pages());
  if (going.bytes() == 0) return;
  if (look_at(going)) count_zeros_of(going);
}

void AuditMeter::look_after_free() {
  const bool known = look_at(block_.pages());
  tracker_.stop();
  if (block_.bytes() == 0) return forget_zeroed_bytes("the size of the block is not known");
  if (!known) {
    if (covered_by_memset(block_) == block_.bytes()) return;
    return forget_zeroed_bytes(inline_watched() ? "the pagemap cannot be read" : &samples_.na_inline[0]);
  }
  if (store_count_ == kStores) return forget_zeroed_bytes("the call makes more memsets than can be remembered");
  count_zeros_of(block_.pages());
  for (const AddressRange& pages : populated_before_) {
    for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
      if (populated_after_.contains(page) || dropped_.contains(page) || hidden_.contains(page)) continue;
      const AddressRange part = block_.intersect({page, page + page_bytes()});
      const std::size_t covered = covered_by_memset(part);
      if (covered == part.bytes()) continue;
      count(doubt("pages of the block were returned to the kernel unseen"), part, part.bytes() - covered);
    }
  }
  add_filled();

  left_by_ = op_;
  left_dirty_.clear();
  scratch_.clear();
  for (const AddressRange& pages : populated_after_) {
    for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
      if (anonymous_.contains(page)) scratch_.add({page, page + page_bytes()});
    }
  }
  find_dirty_pages(block_, scratch_, left_dirty_);
}

void AuditMeter::look_for_late_zeros() {
  if (left_dirty_.size() == 0) return;
  const AddressRange all{left_dirty_.begin()->begin, (left_dirty_.end() - 1)->end};
  bool cleared = false;
  if (look_at(all)) {
    for (const AddressRange& pages : left_dirty_) {
      for (std::uintptr_t page = pages.begin; page < pages.end && !cleared; page += page_bytes()) {
        const AddressRange part = block_.intersect({page, page + page_bytes()});
        cleared = populated_after_.contains(page) && anonymous_.contains(page) &&
                  all_zero(reinterpret_cast<const void*>(part.begin), part.bytes());
      }
    }
  }
  left_dirty_.clear();
  if (!cleared) return;
  left_by_->zeroed_in_free_bytes = left_by_->redundant_zeroed_in_free_bytes = kNotMeasured;
  if (left_by_ == op_) unseen_in_free_ = true;
  if (samples_.na_unseen_in_free[0] == '\0') {
    say(samples_.na_unseen_in_free, "another thread cleared pages of a freed block after free had returned");
  }
}

}  // namespace zerotax
