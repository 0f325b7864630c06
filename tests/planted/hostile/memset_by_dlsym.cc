// Calls memset through a pointer from dlsym. The pointer is in no GOT slot.
#include <dlfcn.h>

#include "hostile.h"

namespace {

using Memset = void* (*)(void*, int, std::size_t);
Memset found = nullptr;
[[gnu::constructor]] void find() { found = reinterpret_cast<Memset>(::dlsym(RTLD_DEFAULT, "memset")); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { found(block, 0, size); });
}
