// Makes a known number of calls of each kind, each kind in its own function. Depending on the kind, the block is new or
// populated memory, grows in place, moves, or cannot be allocated. `counted often` makes 40,000 calls of each of two
// kinds.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
char* volatile kept = nullptr;

void malloc_again() {
  for (int i = 0; i < 1000; ++i) {
    kept = static_cast<char*>(std::malloc(kMiB));
    kept[0] = 1;
    std::free(kept);
  }
}

void malloc_in_vain() {
  const volatile std::size_t too_much = ~std::size_t{0} >> 2;
  for (int i = 0; i < 7; ++i) kept = static_cast<char*>(std::malloc(too_much));
}

void calloc_again() {
  for (int i = 0; i < 300; ++i) {
    kept = static_cast<char*>(std::calloc(1, kMiB));
    std::free(kept);
  }
}

/// The first block is too small to count.
void realloc_again() {
  char* block = nullptr;
  for (std::size_t i = 1; i <= 500; ++i) {
    block = static_cast<char*>(std::realloc(block, i * 32'000));
    block[i * 32'000 - 1] = 1;
  }
  std::free(block);
}

void aligned_again() {
  for (int i = 0; i < 40; ++i) {
    void* block = nullptr;
    if (posix_memalign(&block, 4096, kMiB) != 0) std::exit(3);
    std::free(block);
  }
}

void often(char* memory) {
  for (int i = 0; i < 40'000; ++i) {
    kept = static_cast<char*>(std::malloc(kMiB / 8));
    kept[0] = 1;
    std::free(kept);
    std::memset(memory, 0, kMiB / 16);
  }
}

void clear_much(char* memory) {
  for (int i = 0; i < 700; ++i) std::memset(memory, 0, kMiB);
}

void clear_some(char* memory) {
  for (int i = 0; i < 90; ++i) std::memset(memory, 0, kMiB / 2);
}

}  // namespace

int main(int argc, char** /*argv*/) {
  auto* const memory =
      static_cast<char*>(mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (argc > 1) {
    kept = static_cast<char*>(std::malloc(kMiB / 8));
    std::memset(kept, 1, kMiB / 8);
    std::free(kept);
    often(memory);
    return 0;
  }
  malloc_again();
  malloc_in_vain();
  calloc_again();
  realloc_again();
  aligned_again();
  clear_much(memory);
  clear_some(memory);
  return 0;
}
