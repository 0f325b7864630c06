// What tcmalloc does: pages are kept, and calloc clears all of the request.
#include "largecache/policies/shared.h"

namespace zerotax::largecache {

constinit const Policy kMemset = {
    .name = "memset",
    .summary = "keeps the pages, clears all of them",
    .has_witness = true,
    .bounded_by_peak = true,
    .set_defaults = SetOwnDefaults,
    .should_cache = CacheAny,
    .at_free = KeepAtFree,
    .clear = ClearAll,
};

}  // namespace zerotax::largecache
