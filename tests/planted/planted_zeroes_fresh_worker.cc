// Every calloc returns a fresh mapping. On threads other than the main thread, calloc zeroes the mapping needlessly.
#include "core.h"

namespace {
pthread_t main_thread;
[[gnu::constructor]] void remember_main_thread() { main_thread = ::pthread_self(); }
}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block == nullptr || ::pthread_equal(::pthread_self(), main_thread) != 0) return block;
  return memset(block, 0, bytes);
}

void planted::large_free(void* block) { unmap_block(block); }
