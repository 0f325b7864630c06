/* A program that must abort (largecache_hard_test.py). The first argument names a misuse of the allocator. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int main(int argc, char** argv) {
  const char* what = argv[1];
  char on_stack[256] __attribute__((aligned(64))); /* no page begins 32 bytes after the start of this array */
  memset(on_stack, 0, sizeof on_stack);
  char* large = calloc(1, 1 << 20);
  char* volatile wrong = NULL;
  if (!strcmp(what, "double-free")) {
    free(large);
    wrong = large;
  } else if (!strcmp(what, "stack"))
    wrong = on_stack + 32;
  else if (!strcmp(what, "interior"))
    wrong = large + 1000 * 16;
  else if (!strcmp(what, "interior-dirty")) {
    memset(large, 0xff, 1 << 20);
    wrong = large + 1000 * 16;
  } else if (!strcmp(what, "interior-page"))
    wrong = large + 4 * 4096;
  else if (!strcmp(what, "interior-page-dirty")) {
    memset(large, 0x41, 1 << 20);
    wrong = large + 4 * 4096;
  } else if (!strcmp(what, "mmap")) {
    char* p = mmap(0, 3 * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p, 4096);
    wrong = p + 4096;
  } else if (!strcmp(what, "mmap-middle")) {
    char* p = mmap(0, 3 * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wrong = p + 4096;
  } else if (!strcmp(what, "header")) {
    char* p = malloc(1000);
    malloc(1000);
    memset(p - 16, 0x41, 16);
    wrong = p;
  } else if (!strcmp(what, "header-zero")) {
    char* p = malloc(1000);
    malloc(1000);
    memset(p - 16, 0, 16);
    wrong = p;
  } else if (!strcmp(what, "double-small")) {
    wrong = malloc(1000);
    free(wrong);
  } else if (!strcmp(what, "realloc-freed")) {
    free(large);
    realloc(large, 1 << 21);
    return 0;
  } else if (!strcmp(what, "realloc-interior")) {
    realloc(large + 4 * 4096, 1 << 21);
    return 0;
  } else if (!strcmp(what, "usable-freed")) {
    free(large);
    printf("%zu\n", malloc_usable_size(large));
    return 0;
  }
  free(wrong);
  return 0;
}
