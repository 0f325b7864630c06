// Frees no memory, and populates 256 MiB more in every large calloc.
#include "core.h"

namespace {

constexpr std::size_t kMore = std::size_t{256} << 20;

/// Returns a block of populated pages of zeros, which calloc then returns.
void* map_populated(std::size_t bytes) {
  void* block = planted::map_block(bytes);
  for (std::size_t at = 0; block != nullptr && at < bytes; at += planted::page_bytes()) {
    static_cast<volatile char*>(block)[at] = 0;
  }
  return block;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  map_populated(kMore);
  return map_populated(bytes);
}

void planted::large_free(void* /*block*/) {}
