/* @TITLE@
 * @HOW@ */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static const struct { size_t size; int worker; const char *name; } two[2] = {@SIDES@};
static const char *modes[] = {"left untouched", "dropped, left untouched", "written to"};
static long page, *seen, shows; /* seen[mode * 2 + side]: faults of the tenth calloc, or of stores to its pages */
static void *rounds(void *mine) {
  size_t at = (size_t)((long *)mine - seen), mode = at / 2, size = two[at % 2].size;
  for (int i = 0; i < 10; i++) {
    struct rusage before, after;
    volatile char *block = getrusage(RUSAGE_SELF, &before) == 0 ? calloc(1, size) : NULL;
    for (at = 0; mode == 2 && at < size; at += (size_t)page) block[at] = 1;
    getrusage(RUSAGE_SELF, &after), *(long *)mine = after.ru_minflt - before.ru_minflt;
    size_t mask = -(size_t)page, first = ((size_t)block + ~mask) & mask, last = ((size_t)block + size) & mask;
    if (mode == 1 && last > first) madvise((void *)first, last - first, MADV_DONTNEED); /* pages stay zero */
    free((void *)block);
  }
  return NULL;
}
int main(void) {
  page = sysconf(_SC_PAGESIZE), prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), free(malloc(1)); /* one page per fault */
  seen = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_t t;
  for (int i = 0, end; i < 6; i++) { /* separate processes, because an allocator may keep freed memory */
    if (fork() == 0) _exit(two[i % 2].worker ? pthread_create(&t, 0, rounds, seen + i) || pthread_join(t, 0) : !!rounds(seen + i));
    if (wait(&end) < 0 || end != 0) return 2;
    printf("%-12s pages %-24s %8ld page faults\n", two[i % 2].name, modes[i / 2], seen[i]);
    long one = seen[i], other = seen[i ^ 1], pages = (long)two[i % 2].size / page;
    shows |= i % 2 && ((2 * one >= pages && 20 * other <= pages) || (2 * other >= pages && 20 * one <= pages));
  }
  return printf("%s\n", shows ? "@CLAIM@" : "does not show"), (int)shows;
}
