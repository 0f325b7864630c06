#include <stdio.h>

#include "work.h"

int main(void) {
  printf("%lu\n", refill(60));
  return 0;
}
