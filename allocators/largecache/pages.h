// System calls on whole pages, and page arithmetic.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_PAGES_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace zerotax::largecache {

/// Smallest page size of any Linux machine, in bytes. Every page-aligned pointer is a multiple of this size.
inline constexpr std::size_t kLeastPage = 4096;

/// Whether `pointer` may be the start of a mapping. Few pointers from glibc are page-aligned: its chunks, including
/// mapped ones, start at least 16 bytes into a page, except those from aligned_alloc and similar functions.
[[nodiscard]] inline bool is_page_aligned(const void* pointer) {
  return (reinterpret_cast<std::uintptr_t>(pointer) & (kLeastPage - 1)) == 0;
}

inline std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// mmap, madvise and munmap take pointers. Our code stores addresses as integers, because most are compared and hashed,
/// never dereferenced.
inline void* as_pointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Returns the page size in bytes. x86-64 has only one page size.
#if defined(__x86_64__)
constexpr std::size_t page_size() { return 4096; }
#else
std::size_t page_size();
#endif

/// Rounds `size` up to whole pages. Returns std::nullopt if the result exceeds PTRDIFF_MAX.
std::optional<std::size_t> round_up_to_pages(std::size_t size);

/// Maps `size` bytes (whole pages) of fresh, private, zero memory at a multiple of `alignment` (a power of two).
/// Returns 0 if there is no room.
std::uintptr_t map_pages(std::size_t size, std::size_t alignment);

/// Unmaps pages. Returns false if the kernel refuses: splitting a merged mapping would make too many mappings.
bool unmap_pages(std::uintptr_t address, std::size_t size);

/// Maps `size` bytes exactly at `address`. If any page there is taken, changes nothing and returns false.
bool map_pages_at(std::uintptr_t address, std::size_t size);

/// Lets the kernel take the pages' contents when it needs memory (madvise(2), MADV_FREE). Returns false on failure, for
/// example if the pages are locked in memory.
bool offer_pages(std::uintptr_t address, std::size_t size);

/// Drops the pages' contents, so that the kernel supplies zero pages on the next access (MADV_DONTNEED). Returns false
/// on failure, for example if the pages are locked in memory.
bool purge_pages(std::uintptr_t address, std::size_t size);

/// Zeroes pages by mapping fresh pages over them, which also removes page table entries that are not pages: swap
/// entries and guards. If there is no room for the mapping, changes nothing and returns false.
bool map_pages_over(std::uintptr_t address, std::size_t size);

/// Populates fresh pages at once (madvise(2), MADV_POPULATE_WRITE, since Linux 5.14). If the kernel refuses or stops
/// midway, faults populate the rest page by page.
void populate_pages(std::uintptr_t address, std::size_t size);

/// Returns the minor faults that the calling thread has taken so far; 0 if unknown.
std::uint64_t minor_faults();

/// Whether the page at `address` is mapped. Also true if the kernel gives no answer.
bool page_is_mapped(std::uintptr_t address);

/// Returns the size in bytes of the witness: pages after a block that are part of its mapping and are never handed out.
std::size_t witness_size();

/// Whether a block and its witness are still one mapping. The kernel keeps properties per mapping: protection, locking,
/// advice, userfaultfd, NUMA policy, the mapped file or memory. If the program changes such a property of its block,
/// this splits the block from the witness. Changes to all mappings alike (mlockall) do not split them.
///
/// The check is an mremap(2) that cannot succeed. If the range is in the middle of a mapping, lengthening it fails with
/// ENOMEM. If the range extends beyond the mapping's end, lengthening it fails with EFAULT. The check needs no /proc
/// and works on any kernel that has mremap.
[[nodiscard]] bool witness_agrees(std::uintptr_t address, std::size_t size);

/// If block and witness are no longer one mapping, reverses the program's advice about huge pages (madvise(2),
/// MADV_HUGEPAGE), and checks again. numpy gives this advice for every array of 4 MiB or more.
[[nodiscard]] bool witness_agrees_without_advice(std::uintptr_t address, std::size_t size);

/// Lengthens a whole mapping in place. If other memory follows the mapping, or the range is not one mapping, changes
/// nothing and returns false.
bool lengthen_mapping(std::uintptr_t address, std::size_t old_size, std::size_t size);

/// Moves a block of `old_size` bytes and its witness to a fresh mapping of `size` bytes by mremap(2), which moves page
/// table entries, not bytes. Returns the new address, a multiple of `alignment` if there is room for both mappings.
///
/// If moving is impossible, for example because block and witness are not one mapping, changes nothing and returns 0.
std::uintptr_t move_pages(std::uintptr_t address, std::size_t old_size, std::size_t size, std::size_t alignment);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_PAGES_H_
