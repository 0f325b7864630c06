// Finds pages that may be non-zero with PAGEMAP_SCAN, an ioctl of /proc/PID/pagemap (Linux 6.7; the kernel's
// Documentation/admin-guide/mm/pagemap.rst), through a descriptor that stays open.
//
// The program can close the descriptor and reuse its number for another file. After a fork, the descriptor still refers
// to the parent's memory. Two checks keep a scan from using another file or the parent's memory:
// - The file position of our descriptor is a secret number, which is read after each use. Another file under the same
// number has another position, and PAGEMAP_SCAN ignores the position. The position is read after the use, because
// another thread may replace the descriptor at any moment.
// - Number and secret are in a page that the kernel wipes in a child (madvise(2), MADV_WIPEONFORK), even in a child
// created without the C library. A child opens its own descriptor.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PAGEMAP_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PAGEMAP_H_

#include <cstddef>
#include <cstdint>

namespace zerotax::largecache {

/// Adjacent pages of one kind.
struct PageRun {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool swapped = false;  // swapped, or not present for another reason: migrating to another node, poisoned, or a guard
};

/// Finds the first runs of pages in [begin, end) that may be non-zero: swapped, or present and not the shared zero
/// page. A huge zero page counts as present, because the kernel does not distinguish it.
///
/// Writes at most `capacity` runs, in order, to `runs`, and their number to `count`. Sets `walked`, above `begin`, to
/// the end of the searched range. All other pages in this range read as zeros until someone writes to them.
///
/// Returns false if the kernel gives no answer; a later call tries again. Preserves errno. Any thread may call this
/// function.
bool non_zero_runs(std::uintptr_t begin, std::uintptr_t end, PageRun* runs, std::size_t capacity, std::size_t& count,
                   std::uintptr_t& walked);

/// Finds runs of the shared zero page, that is, pages that were read and never written. Otherwise like non_zero_runs().
bool zero_page_runs(std::uintptr_t begin, std::uintptr_t end, PageRun* runs, std::size_t capacity, std::size_t& count,
                    std::uintptr_t& walked);

/// Whether non_zero_runs() is likely to get an answer. After a failure, returns true only for one call in many.
bool can_look();

/// Return a number that changes with every fork, so that callers know which pages are shared with another process. In
/// the parent, next_fork_generation() changes the number; in the child, the first call does. Return 0 if the kernel
/// cannot wipe pages at a fork.
std::uint32_t fork_generation();
std::uint32_t next_fork_generation();

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_PAGEMAP_H_
