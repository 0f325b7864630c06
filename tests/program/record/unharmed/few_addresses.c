// Limits its address space to a number of MiB (RLIMIT_AS), and prints how many MiB malloc can still allocate.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int count, char** words) {
  if (count < 2) return 2;
  const rlim_t bytes = (rlim_t)atol(words[1]) << 20;
  const struct rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
  int blocks = 0;
  while (malloc(1 << 20)) blocks++;
  printf("%d\n", blocks);
}
