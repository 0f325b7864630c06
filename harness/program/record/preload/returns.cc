#include "record/preload/returns.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "base/size.h"
#include "os/clock.h"
#include "record/preload/calls.h"
#include "record/preload/examine.h"
#include "record/preload/file_pages.h"
#include "record/preload/holdings.h"
#include "record/preload/huge_use.h"
#include "record/preload/instructions.h"
#include "record/preload/modules.h"
#include "record/preload/nesting.h"
#include "record/preload/process.h"
#include "record/preload/real.h"
#include "record/preload/redirect.h"
#include "record/preload/resident.h"
#include "record/preload/return.h"
#include "record/preload/site.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
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
  void* (*shmat)(int, const void*, int);
};
Originals original{};
const std::uintptr_t* heap_end = nullptr;  ///< address of glibc's __curbrk

/// Samples calls for small blocks in which the allocator's memory grew. The more memory a caller gets, the more often
/// it is sampled. A thread's first 32 such calls are sampled, then one in 8, chosen at random.
void sample_growth(ThreadState& thread, std::uint64_t bytes) {
  constexpr std::uint32_t kAllOf = 32;
  constexpr std::uint64_t kOneIn = 8;
  if (thread.now.inside == Inside::kFree || thread.now.inside == Inside::kOwn) return;
  const bool all = ++thread.growths <= kAllOf;
  if (all || random_of(thread) % kOneIn == 0) thread.grown_bytes += all ? bytes : kOneIn * bytes;
}

/// Records memory that the allocator has just mapped. If the memory is for a large block, no part of the block was
/// populated before.
void note_fresh(ThreadState& thread, AddressRange range, ReturnCause cause) {
  mark_pages(range, cause == kByProgram ? kOfProgram : kOfAllocator);
  if (place_of(thread) == Inside::kProgram) return;
  if (thread.now.size_class < class_of(kLargeBytes)) return sample_growth(thread, range.bytes());
  begin_events(thread);
  thread.call.fresh = range;
}

int munmap_for(CalledFrom from, void* begin, std::size_t bytes) {
  const Watched call(from);
  if (!call.counts) return original.munmap(begin, bytes);
  if (cause_of(call.thread, from.caller) == kByProgram) note_unmapping(range_of(begin, bytes), false);
  Return returned(call.thread, range_of(begin, bytes), kMunmap, from.caller);
  mark_unmapping(range_of(begin, bytes));
  const int status = original.munmap(begin, bytes);
  returned.done(status == 0);
  return status;
}

/// Counts the bytes under MADV_FREE, which leaves the pages populated until the kernel needs memory.
void note_offer(ThreadState& thread, AddressRange range) {
  const TimedOwnWork own;
  thread.block->offered_bytes += anonymous_in(range).bytes;
}

/// Makes huge pages by MADV_COLLAPSE without a page fault. The kernel zeroes the parts of the huge pages that were not
/// populated before.
int collapse(AddressRange range, int advice) {
  const OwnWork own;
  const auto before = anonymous_in(range);
  const int status = original.madvise(reinterpret_cast<void*>(range.begin), range.bytes(), advice);
  const auto after = anonymous_in(range);
  if (after.huge <= before.huge) return status;
  Holdings& holdings = process->holdings;
  holdings.collapsed_bytes += after.huge - before.huge;
  holdings.collapsed_small_bytes += less(less(before.bytes, before.huge), less(after.bytes, after.huge));
  return status;
}

int watched_munmap(void* begin, std::size_t bytes) { return munmap_for(called_from(), begin, bytes); }

int madvise_for(CalledFrom from, void* begin, std::size_t bytes, int advice) {
  const Watched call(from);
  const bool returns = advice == MADV_DONTNEED || advice == MADV_DONTNEED_LOCKED || advice == MADV_GUARD_INSTALL;
  if (advice == MADV_HUGEPAGE) note_huge(range_of(begin, bytes));
  if (call.counts && advice == MADV_COLLAPSE) return collapse(range_of(begin, bytes), advice);
  if (!call.counts || (!returns && advice != MADV_FREE)) return original.madvise(begin, bytes, advice);
  if (!returns) {
    note_offer(call.thread, range_of(begin, bytes));
    return original.madvise(begin, bytes, advice);
  }
  if (cause_of(call.thread, from.caller) == kByProgram) note_unmapping(range_of(begin, bytes), true);
  Return returned(call.thread, range_of(begin, bytes), kMadvise, from.caller);
  const int status = original.madvise(begin, bytes, advice);
  if (status == 0) mark_discarded(range_of(begin, bytes));
  returned.done(status == 0);
  return status;
}

int watched_madvise(void* begin, std::size_t bytes, int advice) {
  return madvise_for(called_from(), begin, bytes, advice);
}

/// Moves the end of the heap from `before` to `after` by move(), which returns whether the end was moved.
template <typename Move>
void move_heap_end(ThreadState& thread, std::uintptr_t before, std::uintptr_t after, const void* caller, Move move) {
  if (after >= before) {
    if (move()) note_fresh(thread, {before, after}, cause_of(thread, caller));
    return;
  }
  // The page that contains the new end stays.
  Return returned(thread, {page_ceiling(after), before}, kBrk, caller);
  mark_unmapping({page_ceiling(after), page_ceiling(before)});
  returned.done(move());
}

std::uintptr_t heap_end_of_the_kernel() { return static_cast<std::uintptr_t>(kernel_call(SYS_brk, 0)); }

int watched_brk(void* end) {
  const CalledFrom from = called_from();
  const Watched call(from);
  if (end == nullptr || !call.counts) return original.brk(end);
  // If the C library does not know the end of the heap, the kernel is asked.
  const auto before = heap_end != nullptr ? *heap_end : heap_end_of_the_kernel();
  int status = 0;
  move_heap_end(call.thread, before, reinterpret_cast<std::uintptr_t>(end), from.caller, [&] {
    status = original.brk(end);
    return status == 0;
  });
  return status;
}

/// Makes the system call brk. Returns the new end of the heap, or the old end if the call failed.
long brk_by_number(CalledFrom from, std::uintptr_t end) {
  const Watched call(from);
  const auto move = [&] { return kernel_call(SYS_brk, static_cast<long>(end)); };
  if (end == 0 || !call.counts) return move();
  long now = 0;
  move_heap_end(call.thread, heap_end_of_the_kernel(), end, from.caller, [&] {
    now = move();
    return static_cast<std::uintptr_t>(now) == end;
  });
  return now;
}

void* mremap_for(CalledFrom from, void* begin, std::size_t old_bytes, std::size_t new_bytes, int flags, void* target) {
  const Watched call(from);
  const AddressRange all = range_of(begin, page_ceiling(old_bytes));
  const AddressRange cut{all.begin + page_ceiling(new_bytes), all.end};
  const auto move = [&] {
    const bool by_program = cause_of(call.thread, from.caller) == kByProgram;
    mark_unmapping(all);
    void* const moved = original.mremap(begin, old_bytes, new_bytes, flags, target);
    const AddressRange now = moved != MAP_FAILED ? range_of(moved, new_bytes) : all;
    mark_pages(now, by_program ? kOfProgram : kOfAllocator);
    if (moved != MAP_FAILED) move_file_pages(all, range_of(moved, page_ceiling(new_bytes)));
    const bool grows = moved != MAP_FAILED && new_bytes > old_bytes;
    if (grows && call.counts && cause_of(call.thread, from.caller) == kByProgram)
      process->holdings.program_mapped_bytes += new_bytes - old_bytes;
    return moved;
  };
  const bool replaces = (flags & MREMAP_FIXED) != 0;
  if (!call.counts || (cut.bytes() == 0 && !replaces)) return move();
  const AddressRange replaced = replaces ? range_of(target, page_ceiling(new_bytes)) : AddressRange{};
  if (replaces && cause_of(call.thread, from.caller) == kByProgram) note_unmapping(replaced, false);
  Return cut_off(call.thread, cut, kMremap, from.caller);
  Return overlaid(call.thread, replaced, kMremap, from.caller);
  void* const moved = move();
  cut_off.done(moved != MAP_FAILED);
  overlaid.done(moved != MAP_FAILED);
  return moved;
}

void* watched_mremap(void* begin, std::size_t old_bytes, std::size_t new_bytes, int flags, ...) {
  va_list more;
  va_start(more, flags);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above
  void* const target = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  return mremap_for(called_from(), begin, old_bytes, new_bytes, flags, target);
}

/// Returns the type of an open file's file system (f_type of statfs(2)); 0 if it is unknown.
long file_system_of(int fd) {
  const OwnWork own;
  struct statfs system {};
  return ::fstatfs(fd, &system) == 0 ? static_cast<long>(system.f_type) : 0;
}

/// Whether a file is zerotax's own memory, such as a replay's, rather than the recorded program's.
bool is_of_zerotax(int fd) {
  const OwnWork own;
  constexpr std::string_view kOurs = "/memfd:zerotax-";
  char link[32];
  char name[kOurs.size()];
  std::snprintf(&link[0], sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = ::readlink(&link[0], &name[0], sizeof name);
  return length == static_cast<ssize_t>(sizeof name) && std::string_view(&name[0], sizeof name) == kOurs;
}

/// Records mapped memory by its kind: shared, of a file, or in pages of hugetlbfs.
void note_kind(AddressRange range, int flags, int fd) {
  Holdings& holdings = process->holdings;
  const bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  const bool is_private = (flags & MAP_TYPE) == MAP_PRIVATE;
  const long system = anonymous ? 0 : file_system_of(fd);
  const bool hugetlb = system == HUGETLBFS_MAGIC || (anonymous && (flags & MAP_HUGETLB) != 0);
  const std::uint64_t bytes = range.pages().bytes();
  if (hugetlb) holdings.hugetlb_mapped_bytes += bytes;
  const bool is_shared_memory = system == TMPFS_MAGIC && !is_of_zerotax(fd);
  if (is_shared_memory && is_private) holdings.private_shared_bytes += bytes;
  if (is_shared_memory || (!is_private && (anonymous || hugetlb))) {
    holdings.shared_bytes += bytes;
  } else if (!anonymous && !hugetlb) {
    holdings.file_mapped_bytes += bytes;
  }
  // The kernel lists memory of hugetlbfs as a mapping of a file.
  if (is_private) note_file_pages(range.pages());
}

void* mmap_for(CalledFrom from, void* begin, std::size_t bytes, int rights, int flags, int fd, off_t offset) {
  const Watched call(from);
  // MAP_FIXED_NOREPLACE fails if the range contains a mapping.
  const bool replaces = (flags & MAP_FIXED) != 0 && (flags & MAP_FIXED_NOREPLACE) == 0;
  if (!call.counts) return original.mmap(begin, bytes, rights, flags, fd, offset);
  const bool by_program = cause_of(call.thread, from.caller) == kByProgram;
  const auto mapped = [&](void* memory) {
    if (memory == MAP_FAILED) return memory;
    constexpr int kPlain = MAP_PRIVATE | MAP_ANONYMOUS;
    const int kind = flags & (MAP_TYPE | MAP_ANONYMOUS);
    if (kind != kPlain || (flags & MAP_HUGETLB) != 0) note_kind(range_of(memory, bytes), flags, fd);
    if (kind != kPlain) {
      mark_pages(range_of(memory, bytes), kNotMapped);
      return memory;
    }
    note_fresh(call.thread, range_of(memory, bytes), by_program ? kByProgram : kByAllocation);
    const bool is_stack = (flags & MAP_STACK) != 0;
    if (is_stack) mark_pages(range_of(memory, bytes), kOfStack);
    if (by_program || is_stack) {
      note_huge_mapping(range_of(memory, bytes), is_stack ? HugeKind::kStack : HugeKind::kProgram);
    }
    // Memory of stacks counts for threads, not for the program.
    if (!by_program || is_stack) return memory;
    process->holdings.program_mapped_bytes += bytes;
    note_mapped(range_of(memory, bytes));
    return memory;
  };
  if (!replaces) return mapped(original.mmap(begin, bytes, rights, flags, fd, offset));
  if (by_program) note_unmapping(range_of(begin, bytes), false);
  Return returned(call.thread, range_of(begin, bytes), kMmap, from.caller);
  void* const memory = original.mmap(begin, bytes, rights, flags, fd, offset);
  returned.done(memory != MAP_FAILED);
  return mapped(memory);
}

void* watched_mmap(void* begin, std::size_t bytes, int rights, int flags, int fd, off_t offset) {
  return mmap_for(called_from(), begin, bytes, rights, flags, fd, offset);
}

/// Counts System V shared memory.
void* watched_shmat(int segment, const void* at, int flags) {
  void* const memory = original.shmat(segment, at, flags);
  if (memory == reinterpret_cast<void*>(-1) || process == nullptr) return memory;
  const OwnWork own;
  shmid_ds status{};
  constexpr std::uint64_t kAny = std::uint64_t{1} << 40;
  const std::uint64_t bytes = ::shmctl(segment, IPC_STAT, &status) == 0 ? page_ceiling(status.shm_segsz) : kAny;
  process->holdings.shared_bytes += bytes;
  // The kernel does not report whether the segment is of hugetlbfs (SHM_HUGETLB). Such a segment begins and ends with a
  // huge page.
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  if ((begin | bytes) % huge_page_bytes() == 0) process->holdings.hugetlb_mapped_bytes += bytes;
  return memory;
}

/// Redirects functions of the C library itself. An allocator may define functions of the same names that do not call
/// the C library's.
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

long change_by_number(CalledFrom from, long number, const long (&with)[6]) {
  auto* const memory = reinterpret_cast<void*>(with[0]);
  const auto bytes = static_cast<std::size_t>(with[1]);
  switch (number) {
    case SYS_munmap:
      return munmap_for(from, memory, bytes);
    case SYS_madvise:
      return madvise_for(from, memory, bytes, static_cast<int>(with[2]));
    case SYS_brk:
      return brk_by_number(from, static_cast<std::uintptr_t>(with[0]));
    case SYS_mremap:
      return reinterpret_cast<long>(mremap_for(from, memory, bytes, static_cast<std::size_t>(with[2]),
                                               static_cast<int>(with[3]), reinterpret_cast<void*>(with[4])));
    default:
      return reinterpret_cast<long>(mmap_for(from, memory, bytes, static_cast<int>(with[2]), static_cast<int>(with[3]),
                                             static_cast<int>(with[4]), with[5]));
  }
}

bool watch_returns() {
  Watch watch;
  heap_end = static_cast<const std::uintptr_t*>(find_in(kCLibrary, "__curbrk"));
  // In glibc, munmap, madvise and mmap lie on one page. The functions mmap and mremap rarely return memory, so another
  // C library may have other code there.
  const bool munmap = watch.redirect("munmap", &watched_munmap, original.munmap);
  const bool madvise = watch.redirect("madvise", &watched_madvise, original.madvise);
  const bool mmap = watch.redirect("mmap", &watched_mmap, original.mmap);
  const bool mremap = watch.redirect("mremap", &watched_mremap, original.mremap);
  watch.redirect("shmat", &watched_shmat, original.shmat);
  // If mmap or mremap cannot be redirected, only system calls by number are watched, which then use the C library's
  // function.
  if (!mmap) original.mmap = ::mmap;
  if (!mremap) original.mremap = ::mremap;
  return watch.redirect("brk", &watched_brk, original.brk) && munmap && madvise;
}

void note_return(ThreadState& thread, SiteKind kind, const LiveBlock* ended) {
  const std::uint64_t bytes = thread.call.returned_bytes();
  if (ended != nullptr) thread.block->filled[class_of(ended->bytes)].returned_bytes += bytes;
  if (bytes >= kLargeBytes) note_site(kind, 0, thread.call);
}

}  // namespace zerotax::record
