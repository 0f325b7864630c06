// The policy of jemalloc for large blocks: free keeps the mapping but returns its pages, so calloc finds zeros.
#include "largecache/clear.h"
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
namespace {

AtFree purge_at_free(const Settings& /*settings*/, std::size_t /*reserve_bytes*/, std::size_t /*size*/) {
  return AtFree::kPurge;
}

// If the pages could not be returned, the block is marked as not madvised.
Cleared clear_unless_purged(Block& block, std::size_t size, std::uint32_t /*generation*/) {
  return block.madvised ? Cleared{} : zero_all(block.address, size);
}

}  // namespace

constinit const Policy kPurge = {
    .name = "purge",
    .summary = "keeps the mapping, returns the pages at free",
    .has_witness = true,
    .bounded_by_peak = true,
    .set_defaults = set_own_defaults,
    .should_cache = cache_any,
    .at_free = purge_at_free,
    .clear = clear_unless_purged,
};

}  // namespace zerotax::largecache
