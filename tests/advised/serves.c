/* A server that does the work of `refill` for each answer. With N, the program is a client that sends N requests to the
   server. Usage: serves PORT [N] */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "work.h"

static int ask(const struct sockaddr_in* address) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  char answer = 0;
  const int answered =
      connect(fd, (const struct sockaddr*)address, sizeof *address) == 0 && read(fd, &answer, 1) == 1 && answer == '!';
  close(fd);
  return answered;
}

static int serve(const struct sockaddr_in* address) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (const struct sockaddr*)address, sizeof *address) != 0 || listen(listener, 10) != 0) return 1;
  for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
    const char answer = refill(6) != 0 ? '!' : '?';
    if (write(fd, &answer, 1) != 1) return 1;
    close(fd);
  }
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (argc == 2) return serve(&address);
  for (int left = atoi(argv[2]); left > 0; --left) {
    if (!ask(&address)) return 1;
  }
  return 0;
}
