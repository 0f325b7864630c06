#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdlib>

#include "meter/audit.h"
#include "meter/contents.h"
#include "meter/memory_call.h"
#include "os/mappings.h"

// Counts the bytes that free zeroed. The pages of the block are inspected before the call, before each system call that
// removes pages, and after the call.

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
  if (block_.bytes() == 0) return forget_zeroed_bytes("the size of the block is unknown");
  if (!known) {
    if (covered_by_memset(block_) == block_.bytes()) return;
    return forget_zeroed_bytes(inline_watched() ? "the pagemap cannot be read" : &samples_.na_inline[0]);
  }
  if (store_count_ == kStores) return forget_zeroed_bytes("the call makes more calls to memset than fit in the buffer");
  count_zeros_of(block_.pages());
  for (const AddressRange& pages : populated_before_) {
    for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
      if (populated_after_.contains(page) || dropped_.contains(page) || hidden_.contains(page)) continue;
      const AddressRange part = block_.intersect({page, page + page_bytes()});
      const std::size_t covered = covered_by_memset(part);
      if (covered == part.bytes()) continue;
      count(doubt("pages of the block were returned to the kernel without being seen"), part, part.bytes() - covered);
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

// Handles system calls with which calloc and free change pages. Pages are inspected before a call removes them, and
// pages that a call populates are watched before any store. All of this runs in a signal handler.

namespace zerotax {

void AuditMeter::before_call(const SystemCall& made) {
  ZeroingHook::listen(nullptr);
  const SystemCall call = in_plain_words(made);
  const AddressRange dropped = dropped_by(call, heap_end_);
  account_.before_call(call, dropped);
  if (in_free_ && !mallocs()) {
    count_before_they_go(dropped);
    count_before_they_go(hidden_by(call));
    hidden_.add(hidden_by(call));
  } else if (!mallocs()) {
    note_zeros_that_go(dropped);
    if (call.number == SYS_madvise) hidden_.add(hidden_by(call));
  }
  // A watched range is a separate mapping, and mremap moves at most one mapping, so the range is released first.
  if (moved_by(call, 0).bytes() > 0) tracker_.release(dropped);
  tracker_.release(registered_by(call));
  look_before_populating(target_of(call));
  ZeroingHook::listen(this);
}

void AuditMeter::after_call(const SystemCall& made, long result) {
  ZeroingHook::listen(nullptr);
  const SystemCall call = in_plain_words(made);
  const AddressRange dropped = dropped_by(call, heap_end_);
  zero_filled_ = {};
  account_.after_call(is_error(result), moved_by(call, result));
  if (is_error(result)) {
    // The call failed, so the pages that were inspected before the call still exist.
    if (in_free_) hidden_.add(dropped);
  } else {
    const AddressRange moved = moved_by(call, result);
    if (moved.bytes() > 0 && moved.begin == dropped.begin) {
      // The mapping stayed in place, and the part beyond the new end is removed.
      if (in_free_) hidden_.add(dropped.intersect(moved));
      dropped_.add({moved.end, dropped.end});
      moved_.add(moved);
    } else {
      dropped_.add(dropped);
      moved_.add(moved);
    }
    note_unfollowed(call, made, result);
    watch_what_was_populated(call, result);
    if (call.number == SYS_brk) heap_end_ = static_cast<std::uintptr_t>(result);
  }
  ZeroingHook::listen(this);
}

void AuditMeter::note_unfollowed(const SystemCall& plain, const SystemCall& made, long result) {
  // process_madvise may process only a part of the range.
  const bool whole = plain.number == made.number || result == plain.arguments[1];
  unfollowed_ = std::max(unfollowed_, whole ? unfollowed_by(plain) : Unfollowed::kTakesAway);
  // Huge pages that were populated before the setting was restored remain.
  if (plain.number == SYS_prctl && plain.arguments[0] == PR_SET_THP_DISABLE) huge_pages_ = true;
}

void AuditMeter::note_zeros_that_go(AddressRange pages) {
  // The block's pages are not known yet, so all pages that the call removes are inspected.
  if (pages.bytes() == 0 || !look_at(pages)) return;
  for (const AddressRange& range : populated_after_) {
    for (std::uintptr_t page = range.begin; page < range.end; page += page_bytes()) {
      const bool fresh = dropped_.contains(page) || !populated_before_.contains(page);
      const bool stored = watched_.contains(page)     ? written_.contains(page)
                          : populated_.contains(page) ? !inline_watched()
                                                      : fresh;
      if (!stored || !readable_.contains(page)) continue;
      if (all_zero(reinterpret_cast<const void*>(page), page_bytes())) lost_.add({page, page + page_bytes()});
    }
  }
}

void AuditMeter::look_before_populating(AddressRange target) {
  for (RangeList* list : {&closed_at_call_, &populated_at_call_, &written_at_call_, &watched_}) list->clear();
  if (target.bytes() == 0) return;
  pagemap_.populated(target, populated_at_call_);
  if (!inline_watched()) return;
  tracker_.watched(target, watched_);
  tracker_.written(pagemap_, target, written_at_call_);
  for_each_mapping([&](const Mapping& mapping) {
    if (!mapping.writable && mapping.range.intersect(target).bytes() > 0) {
      closed_at_call_.add(mapping.range.intersect(target));
    }
  });
}

void AuditMeter::watch_what_was_populated(const SystemCall& call, long result) {
  const AddressRange range = populated_by(call, result, heap_end_);
  if (range.bytes() == 0 || samples_.na_populated[0] != '\0') return;
  scratch_.clear();
  if (!pagemap_.populated(range, scratch_)) return;
  for (const AddressRange& pages : scratch_) {
    // Watches pages of three kinds: pages that this call populated, pages that were watched and not written before the
    // call, and pages that were inaccessible before the call.
    AddressRange run;
    for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
      if (!populated_at_call_.contains(page)) {
        new_.add({page, page + page_bytes()});
      } else {
        const bool guarded = watched_.contains(page) && !written_at_call_.contains(page);
        if (!guarded && !closed_at_call_.contains(page)) continue;
      }
      if (run.end != page) {
        watch_run(run);
        run = {page, page};
      }
      run.end = page + page_bytes();
    }
    watch_run(run);
  }
}

void AuditMeter::watch_run(AddressRange run) {
  if (run.bytes() == 0) return;
  populated_.add(run);
  if (!inline_watched()) return;
  tracker_.release(run);
  tracker_.watch(run, pagemap_);
  // Pages that were inaccessible before the call could not be inspected until now.
  for (const AddressRange& closed : closed_at_call_) {
    const AddressRange opened = closed.intersect(run);
    if (opened.bytes() == 0) continue;
    if (opened_dirty_.size() > 0 && (opened_dirty_.end() - 1)->end > opened.begin) {
      unfollowed_ = Unfollowed::kTakesAway;
      return;
    }
    RangeList& pages = readable_;
    pages.clear();
    pages.add(opened);
    find_dirty_pages(opened, pages, opened_dirty_);
  }
}

}  // namespace zerotax
