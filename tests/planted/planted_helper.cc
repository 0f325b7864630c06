// Another thread, which starts with the program, zeroes the block while calloc waits. PLANTED_HELPER is memset, inline,
// or populate (has the kernel populate the block, and stores nothing).
#include <cstdlib>

#include "core.h"

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
void* to_clear = nullptr;
std::size_t bytes_to_clear = 0;

void clear(const char* way, void* block, std::size_t bytes) {
  constexpr int kPopulateWrite = 23;
  if (std::strcmp(way, "memset") == 0) {
    memset(block, 0, bytes);
  } else if (std::strcmp(way, "inline") == 0) {
    planted::store_zeros(block, bytes);
  } else {
    ::madvise(block, planted::header_of(block).capacity, kPopulateWrite);
  }
}

void* help(void*) {
  const char* way = std::getenv("PLANTED_HELPER");
  ::pthread_mutex_lock(&mutex);
  for (;;) {
    while (to_clear == nullptr) ::pthread_cond_wait(&changed, &mutex);
    clear(way != nullptr ? way : "memset", to_clear, bytes_to_clear);
    to_clear = nullptr;
    ::pthread_cond_broadcast(&changed);
  }
}

[[gnu::constructor]] void start() {
  pthread_t thread{};
  ::pthread_create(&thread, nullptr, help, nullptr);
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(bytes);
  if (block == nullptr) return nullptr;
  ::pthread_mutex_lock(&mutex);
  to_clear = block;
  bytes_to_clear = bytes;
  ::pthread_cond_broadcast(&changed);
  while (to_clear != nullptr) ::pthread_cond_wait(&changed, &mutex);
  ::pthread_mutex_unlock(&mutex);
  return block;
}

void planted::large_free(void* block) { keep_block(block); }
