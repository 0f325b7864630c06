// Contains its own memset, which is a plain loop.
#include "hostile.h"

namespace {

[[gnu::noinline]] void own_memset(char* to, char value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = value;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { own_memset(block, 0, hidden(size)); });
}
