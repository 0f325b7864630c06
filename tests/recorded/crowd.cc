// Runs THREADS threads concurrently; none waits for another thread. Usage: crowd THREADS TIMES. Each thread allocates,
// fills and frees a block of 200,000 bytes, TIMES times.
#include <pthread.h>

#include <cstdlib>

#include "block.h"

namespace {

pthread_barrier_t barrier;
unsigned long times = 0;

void* work(void* /*nothing*/) {
  constexpr std::size_t kBytes = 200'000;
  ::pthread_barrier_wait(&barrier);
  for (unsigned long i = 0; i < times; ++i) {
    void* const block = std::malloc(kBytes);
    std::memset(block, 7, kBytes);
    escape(block);
    std::free(block);
  }
  ::pthread_barrier_wait(&barrier);
  return nullptr;
}

}  // namespace

int main(int count, char** words) {
  static pthread_t all[256];
  if (count < 3) return 2;
  const auto threads = static_cast<unsigned>(std::strtoul(words[1], nullptr, 10));
  times = std::strtoul(words[2], nullptr, 10);
  if (threads > 256 || ::pthread_barrier_init(&barrier, nullptr, threads) != 0) return 2;
  for (unsigned i = 0; i < threads; ++i) ::pthread_create(&all[i], nullptr, work, nullptr);
  for (unsigned i = 0; i < threads; ++i) ::pthread_join(all[i], nullptr);
  return 0;
}
