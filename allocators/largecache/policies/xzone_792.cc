// The cache of huge blocks in Apple's xzone malloc, libmalloc-792.41.1 (2025; the files are empty in 792.1.1). All
// files and lines below are in its src/xzone_malloc/.
//
// Requests above 2 MiB are huge (XZM_LARGE_BLOCK_SIZE_MAX), and so are requests with an alignment above 1 MiB
// (xzone_malloc.c:314). Blocks consist of slices of 16 KiB, and start at multiples of 4 MiB (XZM_SEGMENT_SIZE;
// xzone_segment.c:502). The cache has 64 entries of up to UINT32_MAX bytes (XZM_HUGE_CACHE_SIZE_DEFAULT,
// XZM_HUGE_CACHE_MAX_ENTRY_BYTES_DEFAULT).
//
// A request gets the smallest block that fits, and of equal blocks the newest, but no block of twice the request or
// more (xzone_segment.c:2299-2303). On a hit macOS clears the whole cached block, more than was requested (:2374,
// rdar://140793773). A fresh block is "pristine" and is not cleared.
//
// On macOS, the kernel may take back the pages of a cached block through a ring (deferred reclaim), which costs nothing
// at free. Linux has no such ring, so here the pages stay.
#include "largecache/clear.h"
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
namespace {

/// XZM_SEGMENT_SLICE_SIZE in bytes.
constexpr std::size_t kSlice = std::size_t{16} << 10;
/// XZM_SEGMENT_SIZE in bytes.
constexpr std::size_t kSegment = std::size_t{4} << 20;
/// XZM_ALIGNMENT_MAX in bytes.
constexpr std::size_t kMostSmallAlignment = std::size_t{1} << 20;

void set_defaults(Settings& settings, std::size_t /*physical_memory*/) {
  settings.threshold = std::size_t{2} << 20;
  settings.entries = 64;
  settings.entry_limit = UINT32_MAX;
  settings.reserve_limit = PTRDIFF_MAX;
  settings.memory_limit = PTRDIFF_MAX;
}

Cleared clear_block(Block& block, std::size_t /*size*/, std::uint32_t /*generation*/) {
  return zero_all(block.address, block.size);
}

// A request of exactly half leaves the block unchanged (xzone_malloc.c:4790).
bool stays_from_half(const Settings& /*settings*/, std::size_t old_size, std::size_t size) {
  return size >= old_size / 2;
}

// Every whole slice that is left over is cut off (xzone_segment.c:3263).
bool trims_always(std::size_t /*old_size*/, std::size_t /*size*/) { return true; }

}  // namespace

constinit const Policy kXzone792 = {
    .name = "xzone-792",
    .summary = "Apple's xzone malloc of 2025: 64 blocks above 2 MiB, the whole block cleared",
    .has_witness = false,
    .bounded_by_peak = false,
    .set_defaults = set_defaults,
    .should_cache = cache_any,
    .at_free = keep_at_free,
    .clear = clear_block,
    .granule = kSlice,
    .block_alignment = kSegment,  // xzone_segment.c:2348, :2365
    .most_small_alignment = kMostSmallAlignment,
    .keeps_tails = true,  // xzone_segment.c:2830-2838, where the entry limit does not apply
    .stays = stays_from_half,
    .trims = trims_always,
};

}  // namespace zerotax::largecache
