/* truth NAME: runs one sequence under the preloaded allocator. Exit status 0: no promise broken, 1: broken.
   truth --all: runs each sequence in a process of its own, and prints the sequences that broke a promise. */
#define _GNU_SOURCE
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct sequence* const tables[] = {histories_and_sizes, threads_and_forks, other_paths};

void escape(void* block) { __asm__ volatile("" : : "g"(block) : "memory"); }

void* must_malloc(size_t bytes) {
  void* block = malloc(bytes);
  if (block == NULL) _exit(3);
  escape(block);
  return block;
}

void* written(size_t bytes) {
  void* block = must_malloc(bytes);
  memset(block, kWritten, bytes);
  escape(block);
  return block;
}

bool holds(const void* block, size_t bytes, int value) {
  const unsigned char* at = block;
  for (size_t i = 0; i < bytes; ++i) {
    if (at[i] != value) return false;
  }
  return true;
}

bool is_zero(const void* block, size_t bytes) { return holds(block, bytes, 0); }

bool calloc_is_dirty(size_t count, size_t size) {
  void* block = calloc(count, size);
  if (block == NULL) _exit(3);
  escape(block);
  const bool dirty = !is_zero(block, count * size);
  free(block);
  return dirty;
}

bool reuse(size_t bytes, size_t count, size_t size) {
  for (int i = 0; i < kTries; ++i) {
    free(written(bytes));
    if (calloc_is_dirty(count, size)) return true;
  }
  return false;
}

void sleep_ms(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static int run(const char* name) {
  for (size_t t = 0; t < sizeof tables / sizeof tables[0]; ++t) {
    for (const struct sequence* sequence = tables[t]; sequence->name != NULL; ++sequence) {
      if (strcmp(sequence->name, name) == 0) return sequence->broken();
    }
  }
  fprintf(stderr, "truth: no sequence %s\n", name);
  return 2;
}

static bool print_if_broken(const char* self, const char* name) {
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, name, (char*)NULL);
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
    printf(" %s", name);
  } else {
    printf(" %s(%s %d)", name, WIFEXITED(status) ? "status" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  }
  return true;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: truth NAME|--all\n");
    return 2;
  }
  if (strcmp(argv[1], "--all") != 0) {
    alarm(60);
    return run(argv[1]);
  }
  bool any = false;
  for (size_t t = 0; t < sizeof tables / sizeof tables[0]; ++t) {
    for (const struct sequence* sequence = tables[t]; sequence->name != NULL; ++sequence) {
      any |= print_if_broken("/proc/self/exe", sequence->name);
    }
  }
  printf("\n");
  return any;
}
