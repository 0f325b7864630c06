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
[[nodiscard]] inline bool IsPageAligned(const void* pointer) {
  return (reinterpret_cast<std::uintptr_t>(pointer) & (kLeastPage - 1)) == 0;
}

/// Bytes in a page of this machine.
std::size_t PageSize();

/// `size` rounded up to whole pages; nothing when that is more than PTRDIFF_MAX.
std::optional<std::size_t> RoundUpToPages(std::size_t size);

/// A fresh, private, zero mapping of `size` bytes (whole pages) at a multiple of `alignment` (a
/// power of two); 0 when there is no room.
std::uintptr_t MapPages(std::size_t size, std::size_t alignment);

/// Unmaps. False when the kernel refuses (a merged mapping that cannot be split: too many
/// mappings).
bool UnmapPages(std::uintptr_t address, std::size_t size);

/// Maps `size` bytes exactly at `address`; false, and nothing changed, when any page there is
/// taken.
bool MapPagesAt(std::uintptr_t address, std::size_t size);

/// Lets the kernel take the pages' contents when it needs memory: madvise(2), MADV_FREE. False on
/// failure, for example when the pages are locked in memory.
bool OfferPages(std::uintptr_t address, std::size_t size);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_PAGES_H_
