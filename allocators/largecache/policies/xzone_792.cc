// Apple's xzone malloc of libmalloc-792 (2025): its cache of huge blocks. Above 2 MiB (XZM_LARGE_BLOCK_SIZE_MAX) blocks
// go to 64 entries of up to UINT32_MAX bytes (XZM_HUGE_CACHE_SIZE_DEFAULT, XZM_HUGE_CACHE_MAX_ENTRY_BYTES_DEFAULT;
// src/xzone_malloc/xzone_malloc.h), by the same rule of less than twice. On a hit macOS clears the whole cached
// block, more than was asked for (rdar://140793773 in the source); a fresh one is "pristine" and is not cleared.
//
// The pages of a cached block are left to the kernel to take back through a ring (deferred reclaim) that costs nothing
// at free, and that Linux has not: here they stay.
#include "largecache/clear.h"
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
namespace {

void SetDefaults(Settings& settings, std::size_t /*physical_memory*/) {
  settings.threshold = std::size_t{2} << 20;
  settings.entries = 64;
  settings.entry_limit = UINT32_MAX;
  settings.reserve_limit = PTRDIFF_MAX;
  settings.memory_limit = PTRDIFF_MAX;
}

Cleared ClearBlock(Block& block, std::size_t /*size*/, std::uint32_t /*generation*/) {
  return ZeroAll(block.address, block.size);
}

}  // namespace

constinit const Policy kXzone792 = {
    .name = "xzone-792",
    .summary = "Apple's xzone malloc of 2025: 64 blocks above 2 MiB, the whole block cleared",
    .has_witness = false,
    .bounded_by_peak = false,
    .set_defaults = SetDefaults,
    .should_cache = CacheAny,
    .at_free = KeepAtFree,
    .clear = ClearBlock,
};

}  // namespace zerotax::largecache
