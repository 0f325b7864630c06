// Calls memset through a table of functions that the loader filled in.
#include "hostile.h"

namespace {

using Memset = void* (*)(void*, int, std::size_t);
Memset volatile table[2] = {nullptr, &memset};

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { table[1](block, 0, size); });
}
