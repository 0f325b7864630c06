// Apple's xzone malloc of libmalloc-792.41.1 (2025; the files are empty in 792.1.1): its cache of huge blocks. All
// files and lines below are of src/xzone_malloc/ there.
//
// Requests above 2 MiB are huge (XZM_LARGE_BLOCK_SIZE_MAX), and so are those with an alignment above 1 MiB
// (xzone_malloc.c:314). They are made of slices of 16 KiB, start at multiples of 4 MiB (XZM_SEGMENT_SIZE;
// xzone_segment.c:502) and go to 64 entries of up to UINT32_MAX bytes (XZM_HUGE_CACHE_SIZE_DEFAULT,
// XZM_HUGE_CACHE_MAX_ENTRY_BYTES_DEFAULT), from which the smallest that fits is taken, among equals the newest, by
// the rule of less than twice (xzone_segment.c:2299-2303). On a hit macOS clears the whole cached block, more than was
// requested (:2374, rdar://140793773); a fresh one is "pristine" and is not cleared.
//
// The kernel may take back the pages of a cached block through a ring (deferred reclaim) that costs nothing at free.
// Linux has no such ring: here they stay.
#include "largecache/clear.h"
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
namespace {

/// XZM_SEGMENT_SLICE_SIZE, bytes.
constexpr std::size_t kSlice = std::size_t{16} << 10;
/// XZM_SEGMENT_SIZE, bytes.
constexpr std::size_t kSegment = std::size_t{4} << 20;
/// XZM_ALIGNMENT_MAX, bytes.
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

// xzone_malloc.c:4790: exactly half stays.
bool stays_from_half(const Settings& /*settings*/, std::size_t old_size, std::size_t size) {
  return size >= old_size / 2;
}

// xzone_segment.c:3263: as soon as a slice is left over.
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
    .keeps_tails = true,  // xzone_segment.c:2830-2838; the entry limit is not asked there
    .stays = stays_from_half,
    .trims = trims_always,
};

}  // namespace zerotax::largecache
