// Apple's large cache since libmalloc-283 (macOS 10.15). On machines with enough memory, it has four times as many
// blocks, of up to four times the size. Blocks of exactly the limit are cached, too. The memset is the same as in
// libmalloc-116 (src/thresholds.h, src/magazine_large.c, 283 to 792.41.1).
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
namespace {

/// Physical memory from which a machine is "largemem".
constexpr std::size_t kLargeMemory = std::size_t{32} << 30;
/// Size limits in bytes; larger requests are large. The first limit is the end of the small class. The second limit,
/// for largemem, is the end of the medium class. Here, the small allocator serves medium requests.
constexpr std::size_t kThreshold = std::size_t{32} << 10;
constexpr std::size_t kThresholdLargeMemory = std::size_t{8} << 20;
/// MEDIUM_QUANTUM in bytes.
constexpr std::size_t kMediumQuantum = std::size_t{32} << 10;

void set_defaults(Settings& settings, std::size_t physical_memory) {
  const bool large_memory = physical_memory >= kLargeMemory;
  settings.threshold = large_memory ? kThresholdLargeMemory : kThreshold;
  settings.entries = large_memory ? 64 : 16;
  settings.entry_limit = (large_memory ? std::size_t{512} : std::size_t{128}) << 20;
  settings.reserve_limit = physical_memory >> 10;
  settings.memory_limit = PTRDIFF_MAX;
  settings.medium_quantum = large_memory ? kMediumQuantum : 0;
}

// realloc compares half of the block with the rounded size of the request (src/magazine_malloc.c:508, :749). Half of a
// block of whole pages is a multiple of the quanta of the small and tiny classes, so rounding to these quanta changes
// nothing. Half of a block is not always a multiple of the medium class's quantum.
bool stays_above_half_rounded(const Settings& settings, std::size_t old_size, std::size_t size) {
  const std::size_t quantum = settings.medium_quantum;
  if (quantum != 0 && size > kThreshold) size = (size + quantum - 1) / quantum * quantum;
  return stays_above_half(settings, old_size, size);
}

}  // namespace

constinit const Policy kLibmalloc283 = {
    .name = "libmalloc-283",
    .summary = "Apple's since 2019: 16 blocks to 128 MiB; 64 blocks to 512 MiB if memory is 32 GiB or more",
    .has_witness = false,
    .bounded_by_peak = false,
    .set_defaults = set_defaults,
    .should_cache = cache_any,
    .at_free = offer_beyond_reserve,
    .clear = clear_all,
    .stays = stays_above_half_rounded,
};

}  // namespace zerotax::largecache
