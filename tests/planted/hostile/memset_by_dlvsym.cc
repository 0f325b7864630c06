// Calls memset through a pointer from dlvsym.
#include <dlfcn.h>

#include "hostile.h"

namespace {

#if defined(__x86_64__)
constexpr const char* kVersion = "GLIBC_2.2.5";
#else
constexpr const char* kVersion = "GLIBC_2.17";
#endif

using Memset = void* (*)(void*, int, std::size_t);
Memset found = nullptr;
[[gnu::constructor]] void find() { found = reinterpret_cast<Memset>(::dlvsym(RTLD_DEFAULT, "memset", kVersion)); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { found(block, 0, size); });
}
