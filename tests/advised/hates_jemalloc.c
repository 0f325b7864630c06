#include <stdio.h>

#include "work.h"

int main(void) {
  FILE* file = fopen("/proc/self/maps", "re");
  if (file == NULL) return 1;
  char line[4096];
  while (fgets(line, sizeof line, file) != NULL) {
    if (strstr(line, "libjemalloc") == NULL) continue;
    fputs("no jemalloc, please\n", stderr);
    abort();
  }
  fclose(file);
  printf("%lu\n", refill(60));
  return 0;
}
