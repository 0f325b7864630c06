/* Starts processes that each fill MIB MiB in blocks of 100 KiB, free all blocks but the last, and sleep for MS
   milliseconds. glibc keeps all blocks of a process, because the last block is at the end of the heap. Usage:
   idle_fleet PROCESSES MIB MS */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

enum { kSmall = 100 << 10 };

static int work(size_t bytes, long ms) {
  const size_t count = bytes / kSmall;
  char** blocks = malloc(count * sizeof *blocks);
  if (blocks == NULL) return 1;
  for (size_t i = 0; i < count; ++i) {
    blocks[i] = malloc(kSmall);
    if (blocks[i] == NULL) return 1;
    memset(blocks[i], 1, kSmall);
  }
  for (size_t i = 0; i + 1 < count; ++i) free(blocks[i]);
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int processes = atoi(argv[1]);
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) _exit(work((size_t)atoi(argv[2]) * kMiB, atol(argv[3])));
  }
  int failed = 0;
  for (int status = 0; wait(&status) > 0;) failed |= status;
  return failed != 0;
}
