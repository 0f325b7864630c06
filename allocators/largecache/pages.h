// The system calls on whole pages, and the arithmetic that goes with them.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_PAGES_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace zerotax::largecache {

/// The least page size of any Linux machine, bytes: no page-aligned pointer fails to be a multiple
/// of it.
inline constexpr std::size_t kLeastPage = 4096;

/// Could `pointer` be the start of a mapping? Almost no pointer of glibc's is: its chunks, mapped
/// ones included, start 16 bytes into a page or later; only aligned_alloc and its kin give
/// page-aligned ones.
[[nodiscard]] inline bool is_page_aligned(const void* pointer) {
  return (reinterpret_cast<std::uintptr_t>(pointer) & (kLeastPage - 1)) == 0;
}

inline std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// mmap, madvise and munmap want pointers; addresses are kept as integers because most of them are
/// compared and hashed, never followed.
inline void* as_pointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Bytes in a page of this machine. x86-64 has no other than these.
#if defined(__x86_64__)
constexpr std::size_t page_size() { return 4096; }
#else
std::size_t page_size();
#endif

/// `size` rounded up to whole pages; nothing when that is more than PTRDIFF_MAX.
std::optional<std::size_t> round_up_to_pages(std::size_t size);

/// A fresh, private, zero mapping of `size` bytes (whole pages) at a multiple of `alignment` (a
/// power of two); 0 when there is no room.
std::uintptr_t map_pages(std::size_t size, std::size_t alignment);

/// Unmaps. False when the kernel refuses (a merged mapping that cannot be split: too many
/// mappings).
bool unmap_pages(std::uintptr_t address, std::size_t size);

/// Maps `size` bytes exactly at `address`; false, and nothing changed, when any page there is
/// taken.
bool map_pages_at(std::uintptr_t address, std::size_t size);

/// Lets the kernel take the pages' contents when it needs memory: madvise(2), MADV_FREE. False on
/// failure, for example when the pages are locked in memory.
bool offer_pages(std::uintptr_t address, std::size_t size);

/// Has the kernel supply zero pages from now on: MADV_DONTNEED. False on failure, as above.
bool purge_pages(std::uintptr_t address, std::size_t size);

/// The same by a fresh mapping over the pages, which also removes page table entries that are not pages: swap entries,
/// guards. False, and nothing changed, if there is no room for it.
bool map_pages_over(std::uintptr_t address, std::size_t size);

/// Populates fresh pages at once: madvise(2), MADV_POPULATE_WRITE (Linux 5.14). If the kernel refuses, or stops midway,
/// the rest comes page by page as ever.
void populate_pages(std::uintptr_t address, std::size_t size);

/// Minor faults that the calling thread has taken so far; 0 if the kernel does not say.
std::uint64_t minor_faults();

/// Is the page at `address` mapped? Also true if the kernel gives no answer.
bool page_is_mapped(std::uintptr_t address);

/// Bytes of the witness: pages behind a block that are part of its mapping and are never handed out.
std::size_t witness_size();

/// Are the block and its witness still one mapping, as they were made? The kernel keeps per mapping whatever the
/// program changes in its own block's mapping (protection, locking, advice, userfaultfd, NUMA policy, another file or
/// memory in its place), so such a change splits the block from its witness. What changes all mappings alike (mlockall)
/// does not.
///
/// This asks with an mremap(2) that cannot succeed: to lengthen in place what lies in the middle of a mapping fails
/// with ENOMEM, and to lengthen what extends beyond a mapping's end fails with EFAULT. It needs no /proc, and is as old
/// as mremap.
[[nodiscard]] bool witness_agrees(std::uintptr_t address, std::size_t size);

/// Where block and witness do not agree: takes back the advice about huge pages (madvise(2), MADV_HUGEPAGE) that the
/// program gave for its block, and asks again. numpy gives it for every array of 4 MiB or more.
[[nodiscard]] bool witness_agrees_without_advice(std::uintptr_t address, std::size_t size);

/// Makes one mapping, all of it, longer where it is. False, and nothing changed, if anything lies behind it, or if it
/// is not one mapping.
bool lengthen_mapping(std::uintptr_t address, std::size_t old_size, std::size_t size);

/// Moves a block of `old_size` bytes and its witness to a fresh mapping of `size` bytes, at a multiple of `alignment`
/// if there is room for both: page table entries instead of bytes, by mremap(2). Returns where it is now; 0, and
/// nothing changed, if that is impossible, as it is when they are not one mapping.
std::uintptr_t move_pages(std::uintptr_t address, std::size_t old_size, std::size_t size, std::size_t alignment);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_PAGES_H_
