// Apple's large cache of macOS 10.12. macOS 10.12.1 shipped libmalloc-116 (xnu-3789.21.4), and 10.12.2 shipped 116.30.3
// with the same large cache. Constants and comparisons are from src/thresholds.h and from large_malloc and free_large
// in src/magazine_large.c.
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
namespace {

/// LARGE_THRESHOLD_LARGEMEM in bytes. Larger requests are large.
constexpr std::size_t kThreshold = std::size_t{127} << 10;
/// LARGE_ENTRY_CACHE_SIZE on 64-bit machines.
constexpr std::size_t kEntries = 16;
/// LARGE_CACHE_SIZE_ENTRY_LIMIT in bytes: 2 GiB / 16. As in libmalloc, the total is not limited.
constexpr std::size_t kEntryLimit = (std::size_t{2} << 30) / kEntries;
/// Right shift from physical memory to the reserve: 16 GiB give 16 MiB.
constexpr unsigned kReserveShift = 10;

void set_defaults(Settings& settings, std::size_t physical_memory) {
  settings.threshold = kThreshold;
  settings.entries = kEntries;
  settings.entry_limit = kEntryLimit;
  settings.reserve_limit = physical_memory >> kReserveShift;
  settings.memory_limit = PTRDIFF_MAX;
}

// The limit itself is excluded; libmalloc-283 and later compare by <=.
bool should_cache(const Settings& settings, std::size_t size) {
  return settings.entries > 0 && size < settings.entry_limit;
}

}  // namespace

// Clears the whole request, even if the cached block is already zero. This is the bug of 2016 (large_malloc: if
// (cleared_requested) memset(addr, 0, size)).
constinit const Policy kLibmalloc116 = {
    .name = "libmalloc-116",
    .summary = "Apple's of macOS 10.12.1 and 10.12.2: 16 blocks below 128 MiB, cleared whole",
    .has_witness = false,
    .bounded_by_peak = false,
    .set_defaults = set_defaults,
    .should_cache = should_cache,
    .at_free = offer_beyond_reserve,
    .clear = clear_all,
};

}  // namespace zerotax::largecache
