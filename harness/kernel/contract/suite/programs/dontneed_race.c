#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static volatile uint64_t* word;
static atomic_ulong published;

static void* writer(void* unused) {
  for (unsigned long n = 1;; n++) {
    *word = n;
    atomic_store(&published, n);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  unsigned long before = 0;
  word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (word == MAP_FAILED || pthread_create(&thread, NULL, writer, NULL)) return 2;
  for (int i = 0; i < 10000; i++) {
    while (atomic_load(&published) <= before) sched_yield();
    before = atomic_load(&published);
    if (madvise((void*)word, 4096, MADV_DONTNEED)) return perror("MADV_DONTNEED"), 2;
    uint64_t found = *word;
    if (found == 0 || found > before) continue;
    printf("broken: try %d: %lu is there, written before MADV_DONTNEED\n", i, (unsigned long)found);
    return 1;
  }
  puts("kept");
  return 0;
}
