// Starts a thread inside every large calloc, and zeroes nothing.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  pthread_t thread{};
  const auto idle = [](void* argument) { return argument; };
  if (::pthread_create(&thread, nullptr, idle, nullptr) == 0) ::pthread_join(thread, nullptr);
  return map_block(bytes);
}

void planted::large_free(void* block) { unmap_block(block); }
