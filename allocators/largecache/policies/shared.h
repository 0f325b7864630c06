// Functions that several policies share.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_SHARED_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_SHARED_H_

#include <cstddef>
#include <cstdint>

#include "largecache/policies/list.h"

namespace zerotax::largecache {

/// Sets the values of our own policies: large blocks start at 128 KiB and may have any length; the cache may hold a
/// quarter of memory; decay takes a second.
void set_own_defaults(Settings& settings, std::size_t physical_memory);

/// Allows any block to be cached if there are entries at all.
bool cache_any(const Settings& settings, std::size_t size);

AtFree keep_at_free(const Settings& settings, std::size_t reserve_bytes, std::size_t size);

/// Decides like libmalloc: kOffer if the dirty bytes in the cache would exceed the reserve (free_large, 116 and later).
AtFree offer_beyond_reserve(const Settings& settings, std::size_t reserve_bytes, std::size_t size);

/// Clears the request with memset, whether or not it is already zero.
Cleared clear_all(Block& block, std::size_t size, std::uint32_t generation);

/// Clears with memset those pages of the request that may be non-zero, or all pages if the kernel does not report them.
Cleared clear_dirty(Block& block, std::size_t size, std::uint32_t generation);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_SHARED_H_
