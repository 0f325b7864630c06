/* A process sends messages of 1 MiB to another process. The sender allocates each message, and frees it when the
   receiver has answered. The receiver's buffer has N MiB and 64 KiB. Usage: two_processes MESSAGES N */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static int receive(int fd, size_t buffer) {
  for (;;) {
    char* block = malloc(buffer);
    if (block == NULL) return 1;
    size_t got = 0;
    while (got < kMiB) {
      const ssize_t some = recv(fd, block + got, buffer - got, 0);
      if (some <= 0) return got == 0 ? 0 : 1;
      got += (size_t)some;
    }
    free(block);
    if (send(fd, "!", 1, 0) != 1) return 1;
  }
}

static int post(int fd, int messages) {
  for (int left = messages; left > 0; --left) {
    char* block = malloc(kMiB);
    if (block == NULL) return 1;
    memset(block, left, kMiB);
    for (size_t sent = 0; sent < kMiB;) {
      const ssize_t some = send(fd, block + sent, kMiB - sent, 0);
      if (some <= 0) return 1;
      sent += (size_t)some;
    }
    char answer = 0;
    if (recv(fd, &answer, 1, 0) != 1) return 1;
    free(block);
  }
  return 0;
}

int main(int argc, char** argv) {
  int ends[2];
  if (argc != 3 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 2;
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    close(ends[0]);
    _exit(receive(ends[1], (size_t)atoi(argv[2]) * kMiB + ((size_t)64 << 10)));
  }
  close(ends[1]);
  const int failed = post(ends[0], atoi(argv[1]));
  close(ends[0]);
  int status = 1;
  return waitpid(child, &status, 0) != child || status != 0 || failed;
}
