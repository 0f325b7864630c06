/* glibc 2.43: does a large calloc that is the first allocation of a thread clear memory that is fresh from the kernel?
 * cc -O2 -pthread reproducer.c -o reproducer && ./reproducer [MiB] [rounds]
 * In each of the rounds (default 2), one thread calls calloc(1, MiB) (default 20) first, and another thread calls
 * free(malloc(1)) before it. The program prints the page faults of each calloc.
 * Exit status: 1 if calloc faulted in most pages of its block, but only as the first allocation of a thread, else 0. */
#define _GNU_SOURCE
#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static size_t size = 20UL << 20;
static long faults;

static void *first_calloc(void *prepared) {
  struct rusage before, after;
  if (prepared != NULL) {
    void *small = malloc(1);
    __asm__ volatile("" : : "r"(small) : "memory"); /* prevents the compiler from removing the allocation */
    free(small);
  }
  getrusage(RUSAGE_THREAD, &before);
  void *block = calloc(1, size);
  __asm__ volatile("" : : "r"(block) : "memory");
  getrusage(RUSAGE_THREAD, &after);
  if (block == NULL) exit(2);
  faults = after.ru_minflt - before.ru_minflt;
  return NULL; /* the block is kept, so that the next thread gets another block */
}

static long in_a_thread(int prepared) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, first_calloc, prepared ? &size : NULL) != 0) exit(2);
  pthread_join(thread, NULL);
  printf("glibc %s: calloc of %zu MiB, %s: %ld page faults\n", gnu_get_libc_version(), size >> 20,
         prepared ? "after free(malloc(1))" : "first in its thread", faults);
  return faults;
}

int main(int argc, char **argv) {
  int rounds = argc > 2 ? atoi(argv[2]) : 2, shows = 0;
  if (argc > 1) size = (size_t)atol(argv[1]) << 20;
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* so each fault populates one page */
  for (int i = 0; i < rounds; i++) {
    long first = in_a_thread(0), later = in_a_thread(1), half = (long)(size >> 13);
    shows |= first >= half && later < half;
  }
  puts(shows ? "the first calloc of a thread wrote to memory fresh from the kernel" : "does not show");
  return shows;
}
