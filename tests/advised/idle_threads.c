/* Threads that each fill and free a block of BYTES in every round, and then sleep for MS milliseconds. In every round,
   all threads hold a block at the same time. Usage: idle_threads THREADS ROUNDS BYTES MS */
#include <pthread.h>
#include <time.h>

#include "work.h"

static pthread_barrier_t barrier;
static int rounds;
static size_t bytes;

static void* work(void* unused) {
  for (int round = 0; round < rounds; ++round) {
    char* block = malloc(bytes);
    if (block == NULL) abort();
    for (size_t at = 0; at < bytes; at += 4096) block[at] = (char)round;
    pthread_barrier_wait(&barrier);
    free(block);
  }
  pthread_barrier_wait(&barrier);
  return unused;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const unsigned count = (unsigned)atoi(argv[1]);
  rounds = atoi(argv[2]);
  bytes = (size_t)atol(argv[3]);
  const long ms = atol(argv[4]);
  if (pthread_barrier_init(&barrier, NULL, count + 1) != 0) return 1;
  pthread_t thread;
  for (unsigned i = 0; i < count; ++i) {
    if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  }
  for (int round = 0; round <= rounds; ++round) pthread_barrier_wait(&barrier);
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
  return 0;
}
