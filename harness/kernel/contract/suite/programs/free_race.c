#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static volatile uint64_t* word;
static atomic_ulong old;

static void* writer(void* unused) {
  for (uint64_t n = 1;; n++) {
    *word = n;
    for (int look = 0; look < 16; look++) {
      uint64_t found = *word;
      if (found != n && found != 0) atomic_store(&old, found);
    }
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (word == MAP_FAILED || pthread_create(&thread, NULL, writer, NULL)) return 2;
  for (int i = 0; i < 10000; i++) {
    if (madvise((void*)word, 4096, 8 /* MADV_FREE */)) return perror("MADV_FREE"), 2;
    madvise((void*)word, 4096, 21 /* MADV_PAGEOUT: reclaim it now */);
    if (old != 0) return printf("broken: try %d: %lu came back\n", i, (unsigned long)old), 1;
  }
  puts("kept");
  return 0;
}
