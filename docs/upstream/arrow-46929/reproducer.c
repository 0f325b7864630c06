/* apache/arrow#46929: the effect of jemalloc's oversize_threshold on large buffers.
 * cc -O2 -pthread reproducer.c -o reproducer
 * LD_PRELOAD=libjemalloc.so.2 ./reproducer [MiB] [rounds]
 * LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=oversize_threshold:0 ./reproducer [MiB] [rounds]
 * Eight threads run one after the other. Each thread allocates a buffer of MiB (default 32), fills it and frees it, rounds
 * (default 20) times. The program prints the page faults and the memory that stays resident.
 * Exit status: 1 if the rounds faulted their buffers in again, else 0. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#define THREADS 8

static size_t size = 32UL << 20;
static int rounds = 20;

static void *fill(void *unused) {
  (void)unused;
  for (int i = 0; i < rounds; i++) {
    char *buffer = malloc(size);
    if (buffer == NULL) exit(2);
    memset(buffer, 1, size);
    __asm__ volatile("" : : "r"(buffer) : "memory");
    free(buffer);
  }
  return NULL;
}

static long resident_mib(void) {
  long all = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &all, &pages) != 2) exit(2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE) >> 20;
}

int main(int argc, char **argv) {
  struct rusage before, after;
  if (argc > 1) size = (size_t)atol(argv[1]) << 20;
  if (argc > 2) rounds = atoi(argv[2]);
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* so each fault populates one page */
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, fill, NULL) != 0) return 2;
    pthread_join(thread, NULL);
  }
  getrusage(RUSAGE_SELF, &after);
  long faults = after.ru_minflt - before.ru_minflt, pages = (long)(size / 4096) * THREADS * rounds;
  printf("%ld pages filled, %ld page faults, %ld MiB resident when all is freed\n", pages, faults, resident_mib());
  return 2 * faults >= pages;
}
