// Has the kernel populate every block by the method that PLANTED_WAY names. Then stores zeros over the first half of
// the block, unless PLANTED_STORES says "none".
#include <cstdlib>
#include <string_view>

#include "core.h"

namespace {

std::string_view setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

[[gnu::constructor]] void lock_the_future() {
  if (setting("PLANTED_WAY") == "mcl_future") ::mlockall(MCL_FUTURE);
}

void* populated_block(std::size_t bytes) {
  constexpr int kPopulateWrite = 23;
  const std::string_view way = setting("PLANTED_WAY");
  const int flags = way == "map_populate" ? MAP_POPULATE : way == "map_locked" ? MAP_LOCKED : 0;
  void* block = planted::map_block(bytes, flags);
  if (block == nullptr) return nullptr;
  if (way == "madvise") ::madvise(block, planted::header_of(block).capacity, kPopulateWrite);
  if (way == "mlock") ::mlock(block, planted::header_of(block).capacity);
  if (way == "mlockall") ::mlockall(MCL_CURRENT);
  return block;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = populated_block(bytes);
  if (block != nullptr && setting("PLANTED_STORES") != "none") store_zeros(block, bytes / 2);
  return block;
}

void planted::large_free(void* block) {
  unmap_block(block);
  if (setting("PLANTED_WAY") == "mlockall") ::munlockall();
}
