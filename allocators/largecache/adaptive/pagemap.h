// Which pages may be non-zero: PAGEMAP_SCAN, an ioctl of /proc/PID/pagemap (Linux 6.7; the kernel's
// Documentation/admin-guide/mm/pagemap.rst). It is called through a descriptor that stays open.
//
// A descriptor is a number that the program can close and use for another file; and after a fork it still refers to the
// parent's memory. An answer from either must never be trusted, so
//  - the file position of our description is set to a secret number, and read after each use: another file under the
//    same number does not have it (the position of a pagemap means nothing to PAGEMAP_SCAN). After, not before: another
//    thread of the program may change what the number means at any moment;
//  - number and secret lie in a page that the kernel wipes in a child (madvise(2), MADV_WIPEONFORK), even one that
//    was created without the C library. A child opens its own.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PAGEMAP_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PAGEMAP_H_

#include <cstddef>
#include <cstdint>

namespace zerotax::largecache {

/// Adjacent pages of one kind.
struct PageRun {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool swapped = false;  // or otherwise not present: on their way to another node, poisoned, a guard
};

/// The first runs of pages in [begin, end) that may be non-zero: swapped, or present and not the shared zero page. At
/// most `capacity`, in order, into `runs` and `count`; `walked` is where the search ended, more than `begin`. (A huge
/// zero page counts as present: the kernel does not distinguish it.) All other pages read as zeros as long as nobody
/// writes. False if the kernel gives no answer; it is asked again later. Preserves errno. Any thread.
bool non_zero_runs(std::uintptr_t begin, std::uintptr_t end, PageRun* runs, std::size_t capacity, std::size_t& count,
                   std::uintptr_t& walked);

/// The same of the pages that are the shared zero page: those that were read and never written to.
bool zero_page_runs(std::uintptr_t begin, std::uintptr_t end, PageRun* runs, std::size_t capacity, std::size_t& count,
                    std::uintptr_t& walked);

/// Is non_zero_runs() likely to get an answer? After it got none, this returns true only once in a number of calls.
bool can_look();

/// Changes with every fork, in the parent (by next_fork_generation()) and in the child (when it first calls this), so
/// that callers know which pages are shared with another process. 0 if the kernel cannot wipe pages at a fork.
std::uint32_t fork_generation();
std::uint32_t next_fork_generation();

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PAGEMAP_H_
