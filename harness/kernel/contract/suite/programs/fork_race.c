#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t* word;
static atomic_ulong lost;

static void* writer(void* unused) {
  for (uint64_t n = 1;; n++) {
    if (*word != n - 1) atomic_store(&lost, n - 1);
    *word = n;
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (word == MAP_FAILED || pthread_create(&thread, NULL, writer, NULL)) return 2;
  for (int i = 0; i < 10000; i++) {
    int status = 0;
    pid_t pid = fork();
    if (pid < 0) return perror("fork"), 2;
    if (pid == 0) {
      uint64_t seen = *word;
      for (int look = 0; look < 100; look++) {
        if (*word != seen) _exit(1);
      }
      _exit(0);
    }
    if (waitpid(pid, &status, 0) != pid) return 2;
    if (status != 0) return printf("broken: try %d: memory of a child changed\n", i), 1;
    if (lost != 0) return printf("broken: try %d: the parent lost what it wrote\n", i), 1;
  }
  puts("kept");
  return 0;
}
