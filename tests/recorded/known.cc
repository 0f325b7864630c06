// Makes a known number of calls of known sizes. Each size is in a different size class (power of two).
// record_known_test.py contains the same numbers.
#include <pthread.h>

#include <cstdio>

#include "block.h"

namespace {

/// Calls malloc, and then memset of zeros over the whole block, which counts as zeroing by hand.
void malloc_and_clear(int calls, std::size_t bytes) {
  for (int i = 0; i < calls; ++i) {
    void* block = std::malloc(bytes);
    escape(block);
    std::memset(block, 0, bytes);
    escape(block);
    std::free(block);
  }
}

/// Stores zeros that do not count as by hand, because a memset of other memory came first.
void clear_later(std::size_t bytes) {
  char elsewhere[64];
  void* block = std::malloc(bytes);
  escape(block);
  std::memset(&elsewhere[0], 0, sizeof elsewhere);
  escape(&elsewhere[0]);
  std::memset(block, 0, bytes);
  escape(block);
  std::free(block);
}

/// Clears a block twice. Only the first store is over memory that the program has not used yet.
void clear_twice(std::size_t bytes) {
  void* block = std::malloc(bytes);
  escape(block);
  std::memset(block, 0, bytes);
  escape(block);
  std::memset(block, 0, bytes);
  escape(block);
  std::free(block);
}

/// Frees a new block. The allocator's stores in free do not count as by hand, although the block is the program's
/// newest.
void malloc_and_free(std::size_t bytes) {
  void* block = std::malloc(bytes);
  escape(block);
  std::free(block);
}

/// Makes a block grow to ten times its size, and clears the new part by hand.
void realloc_and_clear(std::size_t bytes) {
  auto* block = static_cast<char*>(std::malloc(bytes));
  escape(block);
  auto* grown = static_cast<char*>(std::realloc(block, 10 * bytes));
  escape(grown);
  std::memset(grown + bytes, 0, 9 * bytes);
  escape(grown);
  std::free(grown);
}

void* work(void* /*unused*/) {
  calloc_and_free(4, std::size_t{2} << 20);
  return nullptr;
}

}  // namespace

int main() {
  calloc_and_free(10, std::size_t{1} << 20);
  malloc_and_clear(7, 200'000);
  clear_later(400'000);
  clear_twice(300'000);
  malloc_and_free(1'500'000);
  realloc_and_clear(600'000);
  calloc_and_free(1000, 100);
  pthread_t thread{};
  if (::pthread_create(&thread, nullptr, work, nullptr) != 0) return 1;
  ::pthread_join(thread, nullptr);
  std::puts("known");
  return 3;
}
