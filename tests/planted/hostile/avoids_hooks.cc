// Calls memset only while memset's GOT slot holds the address that dlsym returns. If the slot is hooked, stores zeros
// itself.
#include <dlfcn.h>

#include "hostile.h"

namespace {

using Memset = void* (*)(void*, int, std::size_t);
Memset volatile slot = &memset;

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    if (reinterpret_cast<void*>(slot) == ::dlsym(RTLD_DEFAULT, "memset")) {
      slot(block, 0, size);
    } else {
      store_zeros(block, size);
    }
  });
}
