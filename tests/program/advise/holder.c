/* Holds a block of 64 MiB and forks 20 children, one at a time. While a child lives, the parent writes to each page of
   the first 4 MiB. The child then acts in one WAY: `exec`, `end`, `read` (a byte of the block), or `free` (the block, and
   write to a new block of the same size). */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMiB = 1 << 20, kHeld = 64 * kMiB, kWritten = 4 * kMiB, kPage = 4096 };

static char* volatile held;

static void act(const char* way) {
  if (strcmp(way, "exec") == 0) execl("/bin/true", "true", (char*)NULL);
  if (strcmp(way, "read") == 0) _exit(held[kHeld / 2] != 1);
  if (strcmp(way, "free") == 0) {
    free(held);
    held = malloc(kHeld);
    memset(held, 2, kHeld);
  }
  _exit(0);
}

int main(int argc, char** argv) {
  held = malloc(kHeld);
  memset(held, 1, kHeld);
  for (int i = 0; i < 20 && argc > 1; ++i) {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    const pid_t child = fork();
    if (child == 0) {
      char byte;
      if (read(ends[0], &byte, 1) == 1) act(argv[1]);
      _exit(2);
    }
    for (int at = 0; at < kWritten; at += kPage) held[at] = 1;
    int status = 0;
    if (child < 0 || write(ends[1], "", 1) != 1 || waitpid(child, &status, 0) != child) return 3;
    close(ends[0]);
    close(ends[1]);
    if (status != 0) return 4;
  }
  free(held);
  return 0;
}
