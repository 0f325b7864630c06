// Calls the memset of a second C library, which is loaded into a separate namespace.
#include <dlfcn.h>

#include "hostile.h"

namespace {

using Memset = void* (*)(void*, int, std::size_t);
Memset found = nullptr;
[[gnu::constructor]] void find() {
  void* second = ::dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
  found = second != nullptr ? reinterpret_cast<Memset>(::dlsym(second, "memset")) : &memset;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { found(block, 0, size); });
}
