/* @TITLE@
 * @HOW@ */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define SIZE @SIZE@UL

/* Checks a block from calloc, fills it and frees it. Returns the offset of a byte that was not zero, or -1. */
static long look(void) {
  unsigned char *block = calloc(1, SIZE);
  long found = -1;
  if (block == NULL) exit(2);
  __asm__ volatile("" : : "r"(block) : "memory"); /* keeps the compiler from assuming zeros */
  for (size_t at = 0; at < SIZE && found < 0; at++) {
    if (block[at] != 0) found = (long)at;
  }
  memset(block, 0xa5, SIZE);
  __asm__ volatile("" : : "r"(block) : "memory"); /* keeps the compiler from removing the memset */
  free(block);
  return found;
}

int main(void) {
  free(malloc(1)); /* initializes the allocator */
  for (int i = 1; i <= 10; i++) {
    long offset = look();
    printf("call %2d (%s): ", i, i == 1 ? "fresh" : "reused");
    if (offset >= 0) return printf("a byte that is not zero at offset %ld: @CLAIM@\n", offset), 1;
    printf("all zero\n");
  }
  printf("does not show\n");
  return 0;
}
