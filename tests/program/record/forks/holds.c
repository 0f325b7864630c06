/* Holds 32 MiB, fills the first 16 MiB, and forks 20 times. The argument WAY selects the children's action. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kChildren = 20, kBytes = 16 << 20 };

static void fill(char* block) {
  for (size_t i = 0; i < kBytes; i += 4096) *(volatile char*)(block + i) = 1;
}

int main(int count, char** words) {
  if (count != 2) return 2;
  const char* const way = words[1];
  char* const held = mmap(NULL, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (held == MAP_FAILED) return 1;
  fill(held);
  for (int i = 0; i < kChildren && strcmp(way, "none") != 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      if (strcmp(way, "copies") == 0) fill(held);
      if (strcmp(way, "fills") == 0) fill(held + kBytes);
      if (strcmp(way, "execs") == 0) execl("/bin/true", "true", (char*)NULL);
      if (strcmp(way, "fails") == 0) execl("/none", "none", (char*)NULL);
      if (strcmp(way, "killed") == 0) raise(SIGKILL);
      _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child) return 1;
  }
  return 0;
}
