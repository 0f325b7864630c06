#include "record/preload/returns.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>

#include "os/clock.h"
#include "record/preload/calls.h"
#include "record/preload/examine.h"
#include "record/preload/file_pages.h"
#include "record/preload/holdings.h"
#include "record/preload/own_stack.h"
#include "record/preload/process.h"
#include "record/preload/real.h"
#include "record/preload/redirect.h"
#include "record/preload/site.h"
#include "record/preload/symbols.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

namespace zerotax::record {
namespace {

struct Originals {
  int (*munmap)(void*, std::size_t);
  int (*madvise)(void*, std::size_t, int);
  int (*brk)(void*);
  void* (*mremap)(void*, std::size_t, std::size_t, int, ...);
  void* (*mmap)(void*, std::size_t, int, int, int, off_t);
};
Originals original{};
const std::uintptr_t* heap_end = nullptr;  ///< glibc's __curbrk

/// Counts a system call that may change mappings. False if it is not the program's or its allocator's: then what it
/// returns is attributed to nobody.
bool count_mapping_call(ThreadState& thread) {
  if (process == nullptr || thread.now.inside == Inside::kOwn) return false;
  const bool known = guard.alive != 0 && thread.block != nullptr;
  if (!known && !((thread.armed != nullptr || thread.block == nullptr) && prepare(thread))) return false;
  ++thread.block->mapping_calls;
  return true;
}

/// Where the thread is: a call that is over leaves its mark behind.
Inside place_of(const ThreadState& thread) { return thread.armed != nullptr ? Inside::kProgram : thread.now.inside; }

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
  return is_of_allocator(caller) ? kByPurge : kByProgram;
}

void add_to_call(ThreadState& thread, Mechanism mechanism, std::uint64_t bytes) {
  begin_events(thread);
  thread.call.returned[mechanism] += bytes;
}

/// What a system call returns to the kernel, if it succeeds. A heap can be trimmed page by page, ten thousand times a
/// second: after a hundred small returns of a thread, one in each 32 is looked at, and stands for 32. It is chosen at
/// random: a program has loops of 32, too.
class Return {
 public:
  Return(ThreadState& thread, AddressRange range, Mechanism mechanism, const void* caller)
      : thread_(thread), range_(range), mechanism_(mechanism), cause_(cause_of(thread, caller)) {
    if (range.bytes() < kLargeBytes) weight_ = weight_of_small(range.bytes());
    if (weight_ == 0) return;
    on_own_stack([&] { look(); });
  }

  void done(bool succeeded) {
    if (succeeded && (mechanism_ == kMunmap || mechanism_ == kMmap)) forget_file_pages(range_);
    if (succeeded && found_.bytes != 0) on_own_stack([&] { note(); });
  }

 private:
  void look() {
    const OwnWork own;
    const Clocks began = now();
    found_ = zeroed_in(range_);
    if (weight_ > 1) note_small();
    if (found_.bytes != 0) about_to_return(weight_ * found_.bytes);
    began_ = now();
    note_own(began, began_);
  }
  void note() {
    const OwnWork own;
    const Clocks ended = now();
    ReturnRow& row = thread_.block->returned[cause_][mechanism_];
    row.calls += weight_;
    row.bytes += weight_ * found_.bytes;
    row.cpu_ns += weight_ * static_cast<std::uint64_t>(ended.cpu_ns - began_.cpu_ns);
    if (weight_ > 1) thread_.block->sampled_returns += weight_;
    have_returned(weight_ * found_.bytes, weight_ * found_.huge);
    if (cause_ <= kByAllocation) {
      // One that stands for others does not belong to this call alone.
      if (weight_ == 1) add_to_call(thread_, mechanism_, found_.bytes);
    } else if (found_.bytes >= kLargeBytes) {
      CallFigures figures{};
      figures.returned[mechanism_] = found_.bytes;
      note_site(cause_ == kByPurge ? SiteKind::kPurge : SiteKind::kProgram, 0, figures);
    }
    if (found_.bytes >= kLargeBytes) measure_faults(found_.bytes, found_.huge * 2 > found_.bytes);
    note_own(ended, now());
  }

  static constexpr std::uint32_t kAllOf = 128;  ///< small returns of a thread, all of which are looked at

  struct Clocks {
    std::int64_t ns;
    std::int64_t cpu_ns;
  };
  static Clocks now() { return {monotonic_ns(), thread_cpu_ns()}; }
  [[nodiscard]] std::uint64_t weight_of_small(std::uint64_t bytes) const {
    if (thread_.small_returns < kAllOf) return ++thread_.small_returns, 1;
    SmallReturns& small = thread_.block->small_returns;
    if (small.widest_bytes < bytes) small.widest_bytes = bytes;
    const std::uint32_t place = (thread_.small_returns++ - kAllOf) % kSmallGroup;
    if (place == 0) thread_.chosen_return = static_cast<std::uint32_t>(random_of(thread_) % kSmallGroup);
    if (place == thread_.chosen_return) return kSmallGroup;
    small.unlooked_bytes += bytes;
    return 0;
  }
  /// Of each two in turn the difference is a sign of how much those that were not looked at may differ.
  void note_small() {
    SmallReturns& small = thread_.block->small_returns;
    small.bytes += found_.bytes;
    const std::uint64_t pages = found_.bytes / page_bytes();
    const bool second = (thread_.small_returns - kAllOf - 1) / kSmallGroup % 2 != 0;
    const std::uint64_t apart =
        pages > thread_.last_small_pages ? pages - thread_.last_small_pages : thread_.last_small_pages - pages;
    if (second) small.square_pages += apart * apart;
    thread_.last_small_pages = pages;
  }
  void note_own(Clocks from, Clocks to) {
    thread_.block->own_ns += static_cast<std::uint64_t>(to.ns - from.ns);
    thread_.block->own_cpu_ns += static_cast<std::uint64_t>(to.cpu_ns - from.cpu_ns);
  }

  ThreadState& thread_;
  AddressRange range_;
  Mechanism mechanism_;
  ReturnCause cause_;
  std::uint64_t weight_ = 1;  ///< how many returns this one stands for; 0: it is not looked at
  Pagemap::Anonymous found_;
  Clocks began_{};
};

/// A small block needed more memory: whoever gets much of it is met here often. The first 32 of a thread, then one in
/// 8, chosen at random.
void sample_growth(ThreadState& thread, std::uint64_t bytes) {
  constexpr std::uint32_t kAllOf = 32;
  constexpr std::uint64_t kOneIn = 8;
  if (thread.now.inside == Inside::kFree || thread.now.inside == Inside::kOwn) return;
  const bool all = ++thread.growths <= kAllOf;
  if (all || random_of(thread) % kOneIn == 0) thread.grown_bytes += all ? bytes : kOneIn * bytes;
}

/// Memory that the allocator got just now. If it is for a large block: nothing of it was populated before.
void note_fresh(ThreadState& thread, AddressRange range) {
  if (place_of(thread) == Inside::kProgram) return;
  if (thread.now.size_class < class_of(kLargeBytes)) return sample_growth(thread, range.bytes());
  begin_events(thread);
  thread.call.fresh = range;
}

int munmap_for(const void* caller, void* begin, std::size_t bytes) {
  ThreadState& thread = state;
  if (!count_mapping_call(thread)) return original.munmap(begin, bytes);
  if (cause_of(thread, caller) == kByProgram) note_unmapping(range_of(begin, bytes), false);
  Return returned(thread, range_of(begin, bytes), kMunmap, caller);
  const int status = original.munmap(begin, bytes);
  returned.done(status == 0);
  return status;
}

/// MADV_FREE leaves the pages populated, until the kernel needs memory.
void note_offer(ThreadState& thread, AddressRange range) {
  const TimedOwnWork own;
  thread.block->offered_bytes += anonymous_in(range).bytes;
}

int watched_munmap(void* begin, std::size_t bytes) { return munmap_for(__builtin_return_address(0), begin, bytes); }

int madvise_for(const void* caller, void* begin, std::size_t bytes, int advice) {
  ThreadState& thread = state;
  const bool returns = advice == MADV_DONTNEED || advice == MADV_DONTNEED_LOCKED || advice == MADV_GUARD_INSTALL;
  if (advice == MADV_HUGEPAGE) note_huge(range_of(begin, bytes));
  if (!count_mapping_call(thread) || (!returns && advice != MADV_FREE)) return original.madvise(begin, bytes, advice);
  if (!returns) {
    note_offer(thread, range_of(begin, bytes));
    return original.madvise(begin, bytes, advice);
  }
  if (cause_of(thread, caller) == kByProgram) note_unmapping(range_of(begin, bytes), true);
  Return returned(thread, range_of(begin, bytes), kMadvise, caller);
  const int status = original.madvise(begin, bytes, advice);
  returned.done(status == 0);
  return status;
}

int watched_madvise(void* begin, std::size_t bytes, int advice) {
  return madvise_for(__builtin_return_address(0), begin, bytes, advice);
}

int watched_brk(void* end) {
  ThreadState& thread = state;
  if (end == nullptr || !count_mapping_call(thread)) return original.brk(end);
  // Where the C library does not say, the kernel answers with the present end of the heap.
  const auto before = heap_end != nullptr ? *heap_end : static_cast<std::uintptr_t>(::syscall(SYS_brk, 0));
  const auto after = reinterpret_cast<std::uintptr_t>(end);
  if (after >= before) {
    const int status = original.brk(end);
    if (status == 0) note_fresh(thread, {before, after});
    return status;
  }
  // The page that the new end lies on stays.
  Return returned(thread, {page_ceiling(after), before}, kBrk, __builtin_return_address(0));
  const int status = original.brk(end);
  returned.done(status == 0);
  return status;
}

void* watched_mremap(void* begin, std::size_t old_bytes, std::size_t new_bytes, int flags, ...) {
  va_list more;
  va_start(more, flags);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above
  void* const target = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  ThreadState& thread = state;
  const AddressRange all = range_of(begin, page_ceiling(old_bytes));
  const AddressRange cut{all.begin + page_ceiling(new_bytes), all.end};
  const auto move = [&] {
    void* const moved = original.mremap(begin, old_bytes, new_bytes, flags, target);
    if (moved != MAP_FAILED) move_file_pages(all, range_of(moved, page_ceiling(new_bytes)));
    return moved;
  };
  if (!count_mapping_call(thread) || cut.bytes() == 0) return move();
  Return returned(thread, cut, kMremap, __builtin_return_address(0));
  void* const moved = move();
  returned.done(moved != MAP_FAILED);
  return moved;
}

void* watched_mmap(void* begin, std::size_t bytes, int rights, int flags, int fd, off_t offset) {
  ThreadState& thread = state;
  // MAP_FIXED_NOREPLACE fails where there is something.
  const bool replaces = (flags & MAP_FIXED) != 0 && (flags & MAP_FIXED_NOREPLACE) == 0;
  if (!count_mapping_call(thread)) return original.mmap(begin, bytes, rights, flags, fd, offset);
  const bool by_program = cause_of(thread, __builtin_return_address(0)) == kByProgram;
  const auto mapped = [&](void* memory) {
    if (memory == MAP_FAILED) return memory;
    if ((flags & MAP_PRIVATE) == 0) {
      if ((flags & MAP_ANONYMOUS) != 0) process->holdings.shared_bytes += page_ceiling(bytes);
      return memory;
    }
    if ((flags & MAP_ANONYMOUS) != 0) {
      note_fresh(thread, range_of(memory, bytes));
      // Stacks come with their threads.
      if (by_program && (flags & MAP_STACK) == 0) note_mapped(range_of(memory, bytes));
    } else {
      note_file_pages(range_of(memory, page_ceiling(bytes)));
    }
    return memory;
  };
  if (!replaces) return mapped(original.mmap(begin, bytes, rights, flags, fd, offset));
  if (by_program) note_unmapping(range_of(begin, bytes), false);
  Return returned(thread, range_of(begin, bytes), kMmap, __builtin_return_address(0));
  void* const memory = original.mmap(begin, bytes, rights, flags, fd, offset);
  returned.done(memory != MAP_FAILED);
  return mapped(memory);
}

/// Redirects functions of the C library itself: an allocator may have functions of these names, which do without those
/// of the C library.
class Watch {
 public:
  template <typename Function>
  bool redirect(const char* symbol, Function replacement, Function& way) {
    void* const function = find_in(kCLibrary, symbol);
    return function != nullptr &&
           redirector_.redirect(function, reinterpret_cast<void*>(replacement), reinterpret_cast<void**>(&way));
  }

 private:
  Redirector redirector_;
};

}  // namespace

bool returns_are_watched() { return original.munmap != nullptr && original.madvise != nullptr; }

long return_by_number(const void* caller, long number, long begin, long bytes, long advice) {
  auto* const memory = reinterpret_cast<void*>(begin);
  const auto size = static_cast<std::size_t>(bytes);
  return number == SYS_munmap ? munmap_for(caller, memory, size)
                              : madvise_for(caller, memory, size, static_cast<int>(advice));
}

bool watch_returns() {
  Watch watch;
  heap_end = static_cast<const std::uintptr_t*>(find_in(kCLibrary, "__curbrk"));
  // glibc has munmap, madvise and mmap on one page. mmap and mremap are rare ways: a C library that has other code
  // there is not worth less.
  const bool munmap = watch.redirect("munmap", &watched_munmap, original.munmap);
  const bool madvise = watch.redirect("madvise", &watched_madvise, original.madvise);
  watch.redirect("mmap", &watched_mmap, original.mmap);
  watch.redirect("mremap", &watched_mremap, original.mremap);
  return watch.redirect("brk", &watched_brk, original.brk) && munmap && madvise;
}

void note_return(ThreadState& thread, SiteKind kind, const LiveBlock* ended) {
  const std::uint64_t bytes = thread.call.returned_bytes();
  if (ended != nullptr) thread.block->filled[class_of(ended->bytes)].returned_bytes += bytes;
  if (bytes >= kLargeBytes) note_site(kind, 0, thread.call);
}

}  // namespace zerotax::record
