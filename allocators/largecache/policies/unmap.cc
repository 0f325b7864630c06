// The policy of glibc above its threshold: nothing is kept, so nothing needs clearing.
#include "largecache/policies/shared.h"

namespace zerotax::largecache {
namespace {

bool cache_none(const Settings& /*settings*/, std::size_t /*size*/) { return false; }

}  // namespace

constinit const Policy kUnmap = {
    .name = "unmap",
    .summary = "every block is mapped and unmapped",
    .has_witness = false,
    .bounded_by_peak = false,
    .set_defaults = set_own_defaults,
    .should_cache = cache_none,
    .at_free = keep_at_free,
    .clear = clear_all,
};

}  // namespace zerotax::largecache
