// Pages are kept, and calloc clears those that may be non-zero.
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
constinit const Policy kDirty = {
    .name = "dirty",
    .summary = "keeps the pages, clears those that may be non-zero",
    .has_witness = true,
    .bounded_by_peak = true,
    .set_defaults = SetOwnDefaults,
    .should_cache = CacheAny,
    .at_free = KeepAtFree,
    .clear = ClearDirty,
    .sorts_by_contents = true,
    .foresees_growth = true,
    .foresees_reads = true,
    .keeps_small_memory = true,
};

}  // namespace zerotax::largecache
