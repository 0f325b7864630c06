// What glibc does above its threshold: nothing is kept, so nothing ever needs clearing.
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
namespace {

bool CacheNone(const Settings& /*settings*/, std::size_t /*size*/) { return false; }

}  // namespace

constinit const Policy kUnmap = {
    .name = "unmap",
    .summary = "every block is mapped and unmapped",
    .has_witness = false,
    .bounded_by_peak = false,
    .set_defaults = SetOwnDefaults,
    .should_cache = CacheNone,
    .at_free = KeepAtFree,
    .clear = ClearAll,
};

}  // namespace zerotax::largecache
