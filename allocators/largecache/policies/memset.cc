// The policy of tcmalloc: free keeps the pages, and calloc clears the whole request.
#include "largecache/policies/shared.h"

namespace zerotax::largecache {

constinit const Policy kMemset = {
    .name = "memset",
    .summary = "keeps the pages, clears all of them",
    .has_witness = true,
    .bounded_by_peak = true,
    .set_defaults = set_own_defaults,
    .should_cache = cache_any,
    .at_free = keep_at_free,
    .clear = clear_all,
};

}  // namespace zerotax::largecache
