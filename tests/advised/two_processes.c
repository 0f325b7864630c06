/* A process sends messages of 1 MiB to another process. The sender allocates each message, and frees it when the
   receiver has answered. The receiver copies each message N times, and frees all copies together. With N of 4, glibc
   trims the receiver's heap after each message, and not the sender's. Usage: two_processes MESSAGES N */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

enum { kMostCopies = 8 };

static int receive(int fd, int copies) {
  char* blocks[kMostCopies];
  if (copies < 1 || copies > kMostCopies) return 2;
  for (;;) {
    for (int i = 0; i < copies; ++i) {
      blocks[i] = malloc(kMiB);
      if (blocks[i] == NULL) return 1;
    }
    size_t got = 0;
    while (got < kMiB) {
      const ssize_t some = recv(fd, blocks[0] + got, kMiB - got, 0);
      if (some <= 0) return got == 0 ? 0 : 1;
      got += (size_t)some;
    }
    for (int i = 1; i < copies; ++i) memcpy(blocks[i], blocks[0], kMiB);
    for (int i = 0; i < copies; ++i) free(blocks[i]);
    if (send(fd, "!", 1, 0) != 1) return 1;
  }
}

static int post(int fd, int messages) {
  for (int left = messages; left > 0; --left) {
    char* block = malloc(kMiB);
    if (block == NULL) return 1;
    memset(block, left, kMiB);
    size_t sent = 0;
    ssize_t some = 1;
    while (sent < kMiB && some > 0) {
      some = send(fd, block + sent, kMiB - sent, 0);
      if (some > 0) sent += (size_t)some;
    }
    char answer = 0;
    const int failed = sent < kMiB || recv(fd, &answer, 1, 0) != 1;
    free(block);
    if (failed) return 1;
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
    _exit(receive(ends[1], atoi(argv[2])));
  }
  close(ends[1]);
  const int failed = post(ends[0], atoi(argv[1]));
  close(ends[0]);
  int status = 1;
  return waitpid(child, &status, 0) != child || status != 0 || failed;
}
