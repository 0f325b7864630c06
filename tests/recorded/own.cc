// Contains an allocator of its own, and never calls the recorder's functions. The recording must report this.
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace {

alignas(16) char memory[std::size_t{8} << 20];
std::size_t used = 0;

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  void* block = &memory[used];
  used += (bytes + 15) & ~std::size_t{15};
  return block;
}

void* calloc(std::size_t count, std::size_t bytes) { return std::memset(malloc(count * bytes), 0, count * bytes); }

void* realloc(void* block, std::size_t bytes) {
  void* grown = malloc(bytes);
  return block == nullptr ? grown : std::memmove(grown, block, bytes);
}

void free(void* /*block*/) {}
}

int main() {
  void* volatile block = calloc(1, std::size_t{1} << 20);
  std::puts(block != nullptr ? "own" : "none");
  return 0;
}
