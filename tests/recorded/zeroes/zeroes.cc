// The library that opens.cc opens. One function calls calloc twice, one calls malloc four times and clears the blocks
// by hand, and one makes many small calls to calloc.
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kBytes = 3'000'000;

void escape(void* block) { asm volatile("" : : "r"(block) : "memory"); }

}  // namespace

extern "C" void zero_by_calloc() {
  for (int i = 0; i < 2; ++i) {
    void* block = std::calloc(3, kBytes / 3);
    escape(block);
    std::free(block);
  }
}

extern "C" void zero_by_hand() {
  for (int i = 0; i < 4; ++i) {
    void* block = std::malloc(kBytes);
    std::memset(block, 0, kBytes);
    escape(block);
    std::free(block);
  }
}

extern "C" void zero_small() {
  for (int i = 0; i < 100'000; ++i) {
    void* block = std::calloc(1, 50'000);
    escape(block);
    std::free(block);
  }
}
