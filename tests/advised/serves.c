/* A server that does the work of `refill` for each request. With N, the program is a client that sends N requests to
   the server. With "maps", the server fills a mapping of its own instead. Usage: serves PORT [N [maps]] */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "work.h"

static int ask(const struct sockaddr_in* address, char request) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  char answer = 0;
  const int answered = connect(fd, (const struct sockaddr*)address, sizeof *address) == 0 &&
                       write(fd, &request, 1) == 1 && read(fd, &answer, 1) == 1 && answer == '!';
  close(fd);
  return answered;
}

/* Fills memory of its own, which no setting of an allocator changes. */
static unsigned long use_mapping(void) {
  const size_t bytes = 8 * (size_t)kMiB;
  char* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
  munmap(memory, bytes);
  return 1;
}

static int serve(const struct sockaddr_in* address) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (const struct sockaddr*)address, sizeof *address) != 0 || listen(listener, 10) != 0) return 1;
  for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
    char request = 0;
    if (read(fd, &request, 1) != 1) return 1;
    const char answer = (request == 'm' ? use_mapping() : refill(6)) != 0 ? '!' : '?';
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
    if (!ask(&address, argc > 3 ? 'm' : 'r')) return 1;
  }
  return 0;
}
