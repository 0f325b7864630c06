/* usage: prefork FILE
   Fills 16 MiB, and forks four children in turn. Each child writes a quarter of the pages, and adds its Private_Dirty
   in KiB (/proc/self/smaps_rollup) to the file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBytes = 16 << 20, kChildren = 4, kPage = 4096 };

static long private_dirty_kib(void) {
  static char text[4096];
  const int file = open("/proc/self/smaps_rollup", O_RDONLY);
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  const char* found = got > 0 ? strstr(text, "Private_Dirty:") : NULL;
  return found == NULL ? -1 : atol(found + strlen("Private_Dirty:"));
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  char* data = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return 1;
  madvise(data, kBytes, MADV_NOHUGEPAGE);
  memset(data, 1, kBytes);
  unlink(argv[1]);
  for (int child = 0; child < kChildren; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      const int part = kBytes / kChildren;
      for (int at = 0; at < part; at += kPage) data[child * part + at] = 2;
      const long kib = private_dirty_kib();
      const int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
      _exit(kib < 0 || dprintf(file, "%ld\n", kib) < 0);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) return 1;
  }
  puts("done");
  return 0;
}
