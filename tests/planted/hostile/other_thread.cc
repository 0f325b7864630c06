// Another thread clears the block with memset, while calloc waits for it.
#include <semaphore.h>

#include "hostile.h"

namespace {

sem_t wanted;
sem_t done;
char* target = nullptr;
std::size_t target_bytes = 0;

void* clear(void*) {
  for (;;) {
    ::sem_wait(&wanted);
    memset(target, 0, target_bytes);
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
  return cleared(bytes, [](char* block, std::size_t size) {
    start();
    target = block;
    target_bytes = size;
    ::sem_post(&wanted);
    ::sem_wait(&done);
  });
}
