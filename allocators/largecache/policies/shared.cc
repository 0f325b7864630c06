#include "largecache/policies/shared.h"

#include "largecache/clear.h"
#include "largecache/ring.h"

namespace zerotax::largecache {

void set_own_defaults(Settings& settings, std::size_t physical_memory) {
  settings.threshold = (std::size_t{128} << 10) - 1;
  settings.entries = Ring::kMaxEntries;
  settings.entry_limit = PTRDIFF_MAX;
  settings.reserve_limit = PTRDIFF_MAX;
  settings.memory_limit = physical_memory / 4;
  settings.decay_ms = 1000;
}

bool cache_any(const Settings& settings, std::size_t size) {
  return settings.entries > 0 && size <= settings.entry_limit;
}

AtFree keep_at_free(const Settings& /*settings*/, std::size_t /*reserve_bytes*/, std::size_t /*size*/) {
  return AtFree::kKeep;
}

AtFree offer_beyond_reserve(const Settings& settings, std::size_t reserve_bytes, std::size_t size) {
  return reserve_bytes + size > settings.reserve_limit ? AtFree::kOffer : AtFree::kKeep;
}

Cleared clear_all(Block& block, std::size_t size, std::uint32_t /*generation*/) {
  return zero_all(block.address, size);
}

Cleared clear_dirty(Block& block, std::size_t size, std::uint32_t /*generation*/) {
  Dirty dirty;
  return zero_dirty(block.address, size, dirty) ? dirty.cleared : zero_all(block.address, size);
}

}  // namespace zerotax::largecache
