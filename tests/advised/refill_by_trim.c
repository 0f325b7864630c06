#include <stdio.h>

#include "work.h"

int main(void) {
  printf("%lu\n", refill(20));
  return 0;
}
