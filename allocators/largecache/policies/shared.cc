#include "largecache/policies/shared.h"

#include "largecache/clear.h"
#include "largecache/ring.h"

namespace zerotax::largecache {

void SetOwnDefaults(Settings& settings, std::size_t physical_memory) {
  settings.threshold = (std::size_t{128} << 10) - 1;
  settings.entries = Ring::kMaxEntries;
  settings.entry_limit = PTRDIFF_MAX;
  settings.reserve_limit = PTRDIFF_MAX;
  settings.memory_limit = physical_memory / 4;
  settings.decay_ms = 1000;
}

bool CacheAny(const Settings& settings, std::size_t size) {
  return settings.entries > 0 && size <= settings.entry_limit;
}

AtFree KeepAtFree(const Settings& /*settings*/, std::size_t /*reserve_bytes*/, std::size_t /*size*/) {
  return AtFree::kKeep;
}

AtFree OfferBeyondReserve(const Settings& settings, std::size_t reserve_bytes, std::size_t size) {
  return reserve_bytes + size > settings.reserve_limit ? AtFree::kOffer : AtFree::kKeep;
}

Cleared ClearAll(Block& block, std::size_t size, std::uint32_t /*generation*/) { return ZeroAll(block.address, size); }

Cleared ClearDirty(Block& block, std::size_t size, std::uint32_t /*generation*/) {
  Dirty dirty;
  return ZeroDirty(block.address, size, dirty) ? dirty.cleared : ZeroAll(block.address, size);
}

}  // namespace zerotax::largecache
