#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t* words;  // two words are written in each of 64 pages
static unsigned long page, step;  // bytes of a page, words of a page
static atomic_ulong turn, done;

static void* writer(void* unused) {
  for (unsigned long n = 1;; n++) {
    while (atomic_load(&turn) < n) sched_yield();
    words[n % 64 * step + 1] = n;
    atomic_store(&done, n);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  page = (unsigned long)sysconf(_SC_PAGESIZE), step = page / sizeof *words;
  words = mmap(NULL, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (words == MAP_FAILED || pthread_create(&thread, NULL, writer, NULL)) return 2;
  for (unsigned long n = 1; n <= 10000; n++) {
    if (n % 64 == 0 && madvise((void*)words, 64 * page, MADV_DONTNEED)) return 2;
    volatile uint64_t* mine = words + n % 64 * step;
    atomic_store(&turn, n);
    mine[0] = n;
    while (atomic_load(&done) < n) sched_yield();
    if (mine[0] == n && mine[1] == n && mine[2] == 0) continue;
    printf("broken: %lu was written twice, %lu and %lu are there\n", n, (unsigned long)mine[0], (unsigned long)mine[1]);
    return 1;
  }
  puts("kept");
  return 0;
}
