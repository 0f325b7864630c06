/* Does the work of refill_by_trim. The first argument selects how the program misleads a measurement. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

enum { kRounds = 60, kFewRounds = 2, kFileRounds = 100, kFileBytes = 64 << 20 };

/* Takes page faults that zero nothing, by reading a file page by page. */
static int read_file_again_and_again(void) {
  FILE* file = tmpfile();
  if (file == NULL || ftruncate(fileno(file), kFileBytes) != 0) return 1;
  volatile char* seen = mmap(NULL, kFileBytes, PROT_READ, MAP_SHARED, fileno(file), 0);
  if (seen == MAP_FAILED) return 1;
  for (int round = 0; round < kFileRounds; ++round) {
    for (size_t at = 0; at < kFileBytes; at += (size_t)sysconf(_SC_PAGESIZE)) (void)seen[at];
    madvise((void*)seen, kFileBytes, MADV_DONTNEED);
  }
  return 0;
}

int main(int count, char** words) {
  const char* way = count > 1 ? words[1] : "";
  int rounds = kRounds;
  /* With "looks", does less work if the environment contains a remedy. */
  if (strcmp(way, "looks") == 0 && getenv("MALLOC_TRIM_THRESHOLD_") != NULL) rounds = kFewRounds;
  if (strcmp(way, "clears") == 0) {
    char* again[] = {words[0], "", NULL};
    char* nothing[] = {NULL};
    execve("/proc/self/exe", again, nothing);
  }
  if (strcmp(way, "reads") == 0 && getchar() == EOF) rounds = kFewRounds;
  if (strcmp(way, "files") == 0) return read_file_again_and_again();
  refill(rounds);
  if (strcmp(way, "killed") == 0) raise(SIGTERM);
  if (strcmp(way, "prints") == 0) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("%ld\n", now.tv_nsec);
  }
  return 0;
}
