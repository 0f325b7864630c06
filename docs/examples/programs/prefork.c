/* A preforking server: prefork [PAGES [WORKERS]] (default: 8192 4).
 *
 * The parent fills a table of PAGES pages, listens on a port of 127.0.0.1 that the kernel chooses, and forks WORKERS
 * processes. All workers accept connections on this port, and share the table until one of them writes to it. "GET /N"
 * makes the answering worker write to N more pages, from the first page on, and the kernel copies each page for this
 * worker. The answer names the worker and the total number of pages that it has written. SIGTERM or SIGINT to the
 * parent ends all processes.
 *
 *   cc -O2 -o prefork prefork.c && zerotax cow -- ./prefork
 *   curl http://127.0.0.1:PORT/100
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMostWorkers = 256 };

/* The table has an address far from other mappings, so zerotax cow shows it as a separate mapping. */
static void* const kTable = (void*)0x100000000000;

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static void fail(const char* what) {
  perror(what);
  exit(3);
}

/* Returns the number in a word. Exits with 2 unless the word is a number from `least` to `most`. */
static size_t number(const char* word, size_t least, size_t most) {
  char* end = NULL;
  const unsigned long value = strtoul(word, &end, 10);
  if (word[0] < '0' || word[0] > '9' || *end != '\0' || value < least || value > most) {
    fprintf(stderr, "usage: prefork [PAGES [WORKERS]], 1 to 16777216 pages and 1 to %d workers\n", kMostWorkers);
    exit(2);
  }
  return value;
}

static char* make_table(size_t pages) {
  char* table = mmap(kTable, pages * page_bytes(), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (table == MAP_FAILED) fail("prefork: no memory for the table");
  /* Without huge pages, each write copies one page. With huge pages, the kernel decides how much a write copies. */
  madvise(table, pages * page_bytes(), MADV_NOHUGEPAGE);
  memset(table, 1, pages * page_bytes());
  return table;
}

static int listen_anywhere(int* port) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, (struct sockaddr*)&address, bytes) != 0 || listen(listener, 128) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &bytes) != 0) {
    fail("prefork: cannot listen on 127.0.0.1");
  }
  *port = ntohs(address.sin_port);
  return listener;
}

/* Answers one request. Returns the total number of pages that the worker has written. */
static size_t answer(int connection, char* table, size_t pages, size_t written) {
  char request[256];
  unsigned long more = 0;
  const ssize_t got = read(connection, request, sizeof request - 1);
  request[got > 0 ? got : 0] = '\0';
  const int known = sscanf(request, "GET /%9lu", &more) == 1;
  for (; more > 0 && written < pages; --more, ++written) ((volatile char*)table)[written * page_bytes()] = 2;
  char text[160];
  const int bytes =
      known ? snprintf(text, sizeof text, "HTTP/1.0 200 OK\r\n\r\nworker %d has written %zu of %zu pages\n", getpid(),
                       written, pages)
            : snprintf(text, sizeof text, "HTTP/1.0 400 Bad Request\r\n\r\nask for /N, a number of pages\n");
  for (int sent = 0; sent < bytes;) {
    const ssize_t wrote = write(connection, text + sent, (size_t)(bytes - sent));
    if (wrote <= 0) break;
    sent += (int)wrote;
  }
  close(connection);
  return written;
}

static void work(int listener, char* table, size_t pages) {
  size_t written = 0;
  for (;;) {
    const int connection = accept(listener, NULL, NULL);
    if (connection >= 0) written = answer(connection, table, pages, written);
  }
}

int main(int count, char** words) {
  if (count > 3) number("", 0, 0);
  const size_t pages = count > 1 ? number(words[1], 1, 1 << 24) : 8192;
  const size_t workers = count > 2 ? number(words[2], 1, kMostWorkers) : 4;
  char* table = make_table(pages);
  int port = 0;
  const int listener = listen_anywhere(&port);

  sigset_t ends;
  sigset_t before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigprocmask(SIG_BLOCK, &ends, &before);
  pid_t children[kMostWorkers];
  const pid_t parent = getpid();
  for (size_t i = 0; i < workers; ++i) {
    children[i] = fork();
    if (children[i] < 0) fail("prefork: cannot fork");
    if (children[i] > 0) continue;
    /* A worker ends when its parent is killed, even if the parent was killed before this call. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return 0;
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    work(listener, table, pages);
  }
  printf("prefork %d on http://127.0.0.1:%d with %zu workers and %zu pages\n", parent, port, workers, pages);
  fflush(stdout);
  int signal_number = 0;
  sigwait(&ends, &signal_number);
  for (size_t i = 0; i < workers; ++i) kill(children[i], SIGTERM);
  for (size_t i = 0; i < workers; ++i) waitpid(children[i], NULL, 0);
  return 0;
}
