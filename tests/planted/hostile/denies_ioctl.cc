// Denies ioctl from its constructor on, and stores zeros itself.
#include "deny.h"

[[gnu::constructor]] static void deny_early() { planted::deny(SYS_ioctl); }

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, size); });
}
