// A fresh mapping each time; another thread stores zeros into it 10 ms after calloc returned, and free waits for it.
#include <semaphore.h>
#include <unistd.h>

#include "hostile.h"

namespace {

sem_t wanted;
sem_t done;
char* target = nullptr;
std::size_t target_bytes = 0;

void* clear(void*) {
  for (;;) {
    ::sem_wait(&wanted);
    ::usleep(10'000);
    planted::store_zeros(target, target_bytes);
    ::sem_post(&done);
  }
}

/// Started by the first call: a thread of a constructor might be older than what measures.
void start() {
  static bool started = false;
  if (started) return;
  started = true;
  ::sem_init(&wanted, 0, 0);
  ::sem_init(&done, 0, 0);
  pthread_t thread{};
  ::pthread_create(&thread, nullptr, clear, nullptr);
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  start();
  void* block = map_block(bytes);
  if (block == nullptr) return nullptr;
  target = bytes_of(block);
  target_bytes = bytes;
  ::sem_post(&wanted);
  return block;
}

void planted::large_free(void* block) {
  if (block == target) ::sem_wait(&done);
  unmap_block(block);
}
