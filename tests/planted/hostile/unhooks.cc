// Writes the address that dlsym returns into memset's GOT slot, which a meter may have changed.
#include <dlfcn.h>

#include "hostile.h"

namespace {

using Memset = void* (*)(void*, int, std::size_t);
Memset volatile slot = &memset;

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const auto real = reinterpret_cast<std::uintptr_t>(::dlsym(RTLD_NEXT, "memset"));
    slot = reinterpret_cast<Memset>(real);
    slot(block, 0, size);
  });
}
