// The policy that keeps pages and clears those that may be non-zero.
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
constinit const Policy kDirty = {
    .name = "dirty",
    .summary = "keeps the pages, clears only those that may be non-zero",
    .has_witness = true,
    .bounded_by_peak = true,
    .set_defaults = set_own_defaults,
    .should_cache = cache_any,
    .at_free = keep_at_free,
    .clear = clear_dirty,
    .sorts_by_contents = true,
    .foresees_growth = true,
    .foresees_reads = true,
    .keeps_small_memory = true,
};

}  // namespace zerotax::largecache
