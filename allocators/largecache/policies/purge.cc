// What jemalloc does with large blocks: the mapping is kept, its pages are given back, so that calloc finds zeros.
#include "largecache/clear.h"
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
namespace {

AtFree PurgeAtFree(const Settings& /*settings*/, std::size_t /*reserve_bytes*/, std::size_t /*size*/) {
  return AtFree::kPurge;
}

// A block whose pages could not be given back is marked as not madvised.
Cleared ClearUnlessPurged(Block& block, std::size_t size, std::uint32_t /*generation*/) {
  return block.madvised ? Cleared{} : ZeroAll(block.address, size);
}

}  // namespace

constinit const Policy kPurge = {
    .name = "purge",
    .summary = "keeps the mapping, gives the pages back at free",
    .has_witness = true,
    .bounded_by_peak = true,
    .set_defaults = SetOwnDefaults,
    .should_cache = CacheAny,
    .at_free = PurgeAtFree,
    .clear = ClearUnlessPurged,
};

}  // namespace zerotax::largecache
