#pragma once

/// A small, correct malloc replacement that leaves calloc and free of large blocks to a policy. Each planted_*.cc
/// defines planted::large_calloc and planted::large_free, and core.cc defines the rest. The meter must find out what a
/// policy does. The C library serves requests below kLarge. A larger block has separate pages. The block's header is on
/// the page before its first page, so that the block's pages contain nothing else.

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "instructions.h"

namespace planted {

/// Returns the page size of this machine. Can be called before constructors run.
inline std::size_t page_bytes() {
  static std::size_t known = 0;
  if (known == 0) known = ::getauxval(AT_PAGESZ);
  return known;
}
inline constexpr std::size_t kMostPageBytes = std::size_t{64} << 10;
inline constexpr std::size_t kLarge = std::size_t{32} << 10;

/// The policy's calloc and free of large blocks.
void* large_calloc(std::size_t bytes);
void large_free(void* block);
/// calloc for small blocks. By default, this is the C library's calloc.
void* small_calloc(std::size_t bytes);
/// malloc for large blocks. If the policy does not define large_malloc, the default returns the kept block or a fresh
/// mapping.
void* large_malloc(std::size_t bytes);

struct Header {
  std::uintptr_t mark;
  std::size_t asked;     ///< bytes
  std::size_t capacity;  ///< size of the whole pages
  void* mapping;
  std::size_t mapped;
};

inline std::size_t page_ceiling(std::size_t bytes) { return (bytes + page_bytes() - 1) & ~(page_bytes() - 1); }
inline char* bytes_of(void* block) { return static_cast<char*>(block); }
/// Returns the page on which a block begins. The block begins at the start of the page, unless a policy moved the block
/// by eight bytes.
inline char* page_of(void* block) { return bytes_of(block) - reinterpret_cast<std::uintptr_t>(block) % page_bytes(); }
inline Header& header_of(void* block) {
  return *static_cast<Header*>(static_cast<void*>(page_of(block) - page_bytes()));
}

inline std::uintptr_t mark_of(const void* block) {
  return reinterpret_cast<std::uintptr_t>(block) ^ std::uintptr_t{0x706c'616e'7465'6421};
}

/// Whether a block is large. If a block of the C library begins at a page, the page before contains the size of its
/// chunk, so that page may be read.
inline bool is_large(void* block) {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(block) % page_bytes();
  return (offset == 0 || offset == 8) && header_of(block).mark == mark_of(page_of(block));
}

/// Returns a block in a fresh mapping of zero pages, or nullptr and ENOMEM if it cannot be made.
inline void* map_block(std::size_t bytes, int flags = 0, std::size_t alignment = page_bytes()) {
  if (bytes > PTRDIFF_MAX - 2 * page_bytes() - alignment) {
    errno = ENOMEM;
    return nullptr;
  }
  const std::size_t mapped = page_bytes() + page_ceiling(bytes) + (alignment - page_bytes());
  void* mapping = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(mapping) + page_bytes();
  void* block = reinterpret_cast<void*>((begin + alignment - 1) & ~(alignment - 1));
  header_of(block) = {mark_of(block), bytes, page_ceiling(bytes), mapping, mapped};
  return block;
}

inline void unmap_block(void* block) {
  const Header header = header_of(block);
  ::munmap(header.mapping, header.mapped);
}

inline pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
inline void* kept = nullptr;  ///< the last freed block, if the policy keeps blocks; otherwise nullptr

/// Keeps a freed block for the next request of the same size, and unmaps the block kept before.
inline void keep_block(void* block) {
  ::pthread_mutex_lock(&lock);
  void* previous = kept;
  kept = block;
  ::pthread_mutex_unlock(&lock);
  if (previous != nullptr) unmap_block(previous);
}

/// Returns the kept block with its contents if it was for this many bytes, otherwise nullptr.
inline void* take_kept(std::size_t bytes) {
  ::pthread_mutex_lock(&lock);
  void* block = kept != nullptr && header_of(kept).asked == bytes ? kept : nullptr;
  if (block != nullptr) kept = nullptr;
  ::pthread_mutex_unlock(&lock);
  return block;
}

/// Returns the kept block or a fresh mapping.
inline void* take_or_map(std::size_t bytes) {
  void* block = take_kept(bytes);
  return block != nullptr ? block : map_block(bytes);
}

/// Writes zeros without a call through a GOT slot.
using instructions::store_zeros;

}  // namespace planted
