// System calls of calloc and free that change pages: what they take away is looked at before it goes, and what they
// populate is watched before anybody can store to it. All of this runs in the handler of a signal.
#include <sys/syscall.h>

#include "meter/audit.h"
#include "meter/memory_call.h"

namespace zerotax {

void AuditMeter::before_call(const SystemCall& call) {
  ZeroingHook::listen(nullptr);
  if (in_free_) {
    count_before_they_go(dropped_by(call, heap_end_));
    count_before_they_go(hidden_by(call));
    hidden_.add(hidden_by(call));
  }
  // What is watched is a mapping of its own, and mremap moves no more than one.
  if (moved_by(call, 0).bytes() > 0) tracker_.release(dropped_by(call, heap_end_));
  populated_at_call_.clear();
  written_at_call_.clear();
  watched_.clear();
  const AddressRange target = target_of(call);
  if (target.bytes() > 0) {
    pagemap_.populated(target, populated_at_call_);
    if (inline_watched()) {
      tracker_.watched(target, watched_);
      tracker_.written(pagemap_, target, written_at_call_);
    }
  }
  ZeroingHook::listen(this);
}

void AuditMeter::after_call(const SystemCall& call, long result) {
  ZeroingHook::listen(nullptr);
  const AddressRange dropped = dropped_by(call, heap_end_);
  if (is_error(result)) {
    // It was looked at, and is still there.
    if (in_free_) hidden_.add(dropped);
  } else {
    const AddressRange moved = moved_by(call, result);
    if (moved.bytes() > 0 && moved.begin == dropped.begin) {
      // In place: what is beyond the new end goes.
      if (in_free_) hidden_.add(dropped.intersect(moved));
      dropped_.add({moved.end, dropped.end});
      moved_.add(moved);
    } else {
      dropped_.add(dropped);
      moved_.add(moved);
    }
    if (is_beyond_following(call)) beyond_following_ = true;
    watch_what_was_populated(call, result);
    if (call.number == SYS_brk) heap_end_ = static_cast<std::uintptr_t>(result);
  }
  ZeroingHook::listen(this);
}

void AuditMeter::watch_what_was_populated(const SystemCall& call, long result) {
  const AddressRange range = populated_by(call, result, heap_end_);
  if (range.bytes() == 0 || record_.na_populated[0] != '\0') return;
  scratch_.clear();
  if (!pagemap_.populated(range, scratch_)) return;
  for (const AddressRange& pages : scratch_) {
    // Runs of pages that this call populated, or whose protection it broke though it stored nothing.
    AddressRange run;
    const auto watch = [&] {
      populated_.add(run);
      if (!inline_watched() || run.bytes() == 0) return;
      tracker_.release(run);
      tracker_.watch(run, pagemap_);
    };
    for (std::uintptr_t page = pages.begin; page < pages.end; page += kPageBytes) {
      const bool was_there = populated_at_call_.contains(page);
      const bool guarded = watched_.contains(page) && !written_at_call_.contains(page);
      if (was_there && !guarded) continue;
      if (run.end != page) {
        watch();
        run = {page, page};
      }
      run.end = page + kPageBytes;
    }
    watch();
  }
}

}  // namespace zerotax
