#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

int main(void) {
  unsigned long sum = 0;
  for (int child = 0; child < 60; ++child) {
    const pid_t pid = fork();
    if (pid == 0) _exit(child % 15 == 0 ? (int)(refill(15) % 100) : 1);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return 1;
    sum += (unsigned long)WEXITSTATUS(status);
  }
  printf("%lu\n", sum);
  return 0;
}
