/* mi_rezalloc leaves stale bytes behind the requested size, and the next mi_rezalloc takes these bytes for zeros.
 * cc -O2 -pthread reproducer.c -o reproducer && LD_PRELOAD=libmimalloc.so ./reproducer [BLOCKS] [ROUNDS]
 * Prints the number of stale bytes in memory that the program never wrote. Exit status 1: found. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kFirst = 1, kSecond = 73, kThird = 120, kMostBlocks = 100000 };
typedef void* (*zalloc_function)(size_t);
typedef void* (*rezalloc_function)(void*, size_t);
static char* blocks[kMostBlocks];

int main(int count, char** words) {
  const int made = count > 1 ? atoi(words[1]) : 1000, rounds = count > 2 ? atoi(words[2]) : 1000;
  zalloc_function zalloc;
  rezalloc_function rezalloc;
  *(void**)&zalloc = dlsym(RTLD_DEFAULT, "mi_zalloc");
  *(void**)&rezalloc = dlsym(RTLD_DEFAULT, "mi_rezalloc");
  if (zalloc == NULL || rezalloc == NULL || made < 1 || made > kMostBlocks) {
    puts("run with LD_PRELOAD=libmimalloc.so");
    return 0;
  }
  for (int i = 0; i < made; ++i) { /* freed memory with other contents, as any program has */
    blocks[i] = malloc(kSecond + 7);
    if (blocks[i] != NULL) memset(blocks[i], 0xAA, kSecond + 7);
  }
  for (int i = 0; i < made; ++i) free(blocks[i]);
  long stale = 0, found = 0;
  for (int i = 0; i < rounds; ++i) {
    char* block = zalloc(kFirst);
    block = rezalloc(block, kSecond);
    block = rezalloc(block, kThird);
    long here = 0;
    for (int at = 0; block != NULL && at < kThird; ++at) here += block[at] != 0;
    stale += here;
    found += here != 0;
  }
  printf("%ld bytes of %ld blocks are not zero, in %d rounds\n", stale, found, rounds);
  return found != 0;
}
