/* Starts many threads that clear memory now and then. Usage: threads NUMBER. The program prints "ready", and ends after
 * reading a line. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* work(void* nothing) {
  for (;;) {
    usleep(50000);
    char* block = malloc(10000);
    memset(block, 0, 10000);
    free(block);
  }
  return nothing;
}

int main(int count, char** words) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  const int number = count > 1 ? atoi(words[1]) : 0;
  for (int i = 0; i < number; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &small, work, NULL) != 0) return 3;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  getchar();
  return 0;
}
