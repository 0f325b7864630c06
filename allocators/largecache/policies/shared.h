// Answers that several policies share.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_SHARED_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_SHARED_H_

#include <cstddef>
#include <cstdint>

#include "largecache/policies/list.h"

namespace zerotax::largecache {

/// Values of our own policies: large from 128 KiB on, no block too long, a quarter of memory, a second of decay.
void set_own_defaults(Settings& settings, std::size_t physical_memory);

/// Any block, as long as there are entries.
bool cache_any(const Settings& settings, std::size_t size);

AtFree keep_at_free(const Settings& settings, std::size_t reserve_bytes, std::size_t size);

/// libmalloc's: kOffer as soon as more than the reserve would stay cached dirty (free_large, 116 and later).
AtFree offer_beyond_reserve(const Settings& settings, std::size_t reserve_bytes, std::size_t size);

/// memset of the request, whether it is zero or not.
Cleared clear_all(Block& block, std::size_t size, std::uint32_t generation);

/// memset of the pages of the request that may be non-zero; of all pages if the kernel does not report these.
Cleared clear_dirty(Block& block, std::size_t size, std::uint32_t generation);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_SHARED_H_
