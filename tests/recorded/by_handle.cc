// Looks up the C library's functions by the method that the argument names, and calls them. Makes 10 calls to memset
// with 1 MiB of zeros, 5 calls to malloc, and 20 calls to calloc, both of 100,000 bytes. Each block is freed.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "block.h"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
#if defined(__x86_64__)
constexpr const char* kVersion = "GLIBC_2.2.5";
#else
constexpr const char* kVersion = "GLIBC_2.17";
#endif
char bytes[kMiB];
const char* way;
void* library;

void* find(const char* symbol) {
  if (std::strcmp(way, "default") == 0) return ::dlsym(RTLD_DEFAULT, symbol);
  if (std::strcmp(way, "version") == 0) return ::dlvsym(library, symbol, kVersion);
  return ::dlsym(library, symbol);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  way = argv[1];
  library = ::dlopen(std::strcmp(way, "program") == 0 ? nullptr : "libc.so.6", RTLD_NOW);
  const auto clear = reinterpret_cast<decltype(&std::memset)>(find("memset"));
  const auto allocate = reinterpret_cast<decltype(&std::malloc)>(find("malloc"));
  const auto zeroed = reinterpret_cast<decltype(&std::calloc)>(find("calloc"));
  const auto release = reinterpret_cast<decltype(&std::free)>(find("free"));
  if (clear == nullptr || allocate == nullptr || zeroed == nullptr || release == nullptr) return 3;
  // The program can still get the error text of its own lookups.
  if (::dlsym(library, "no_such_function") != nullptr || ::dlerror() == nullptr) return 4;
  for (int i = 0; i < 10; ++i) {
    clear(&bytes[0], 0, sizeof bytes);
    escape(&bytes[0]);
  }
  for (int i = 0; i < 20; ++i) {
    if (i % 4 == 0) release(allocate(100'000));
    void* block = zeroed(1, 100'000);
    escape(block);
    release(block);
  }
  return 0;
}
