#include <malloc.h>
#include <stdio.h>

#include "work.h"

int main(void) {
  void* block = malloc(100);
  printf("%zu bytes behind 100\n", malloc_usable_size(block));
  free(block);
  printf("%lu\n", refill(60));
  return 0;
}
