// Calls __memset_chk, as a program built with _FORTIFY_SOURCE does.
#include "hostile.h"

extern "C" void* __memset_chk(void* target, int value, std::size_t bytes, std::size_t room);

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { __memset_chk(block, 0, size, size); });
}
